//! A record as it stands on the disk: JSON with a version, strict in both directions.
//!
//! The digest must be that of the files it lists, and the root the one it is asked for: a record that was copied or
//! edited by hand is none.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rules::plain::{WHY, plain};
use serde::{Deserialize, Serialize};
use system::clock::milliseconds;

use super::{Grant, GrantedFile, Grantor, Means, Record};
use crate::digest::{Part, TreeDigest, parse_sha256};

/// The version this program reads and writes.
const VERSION: u32 = 1;
/// Most processes of a chain that are kept, and most characters of each.
const PROCESSES: usize = 64;
const PROCESS: usize = 300;

/// A path that need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// As text.
    Path(String),
    /// Its bytes in hex.
    PathBytes(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withdrawn_at: Option<u64>,
    grant: WrittenGrant,
}

/// A grant as it is written, here and in the record of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenGrant {
    root: Place,
    digest: String,
    /// Milliseconds since 1970.
    at: u64,
    means: WrittenMeans,
    processes: Vec<String>,
    files: Vec<WrittenFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenMeans {
    Terminal,
    Editor,
    System,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    path: String,
    sha256: String,
    size: u64,
    executable: bool,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The record in `bytes`.
///
/// # Errors
/// What is wrong, without the file's name.
pub(super) fn parse(bytes: &[u8]) -> Result<Record, String> {
    // An error may quote the file.
    let malformed = |error: serde_json::Error| plain(&format!("is no record of a grant ({error})"), WHY);
    let versioned: Versioned = serde_json::from_slice(bytes).map_err(malformed)?;
    if versioned.version != VERSION {
        return Err(format!("has format {}, and this program knows format {VERSION}", versioned.version));
    }
    let written: Written = serde_json::from_slice(bytes).map_err(malformed)?;
    let grant = Grant::try_from(written.grant)?;
    Ok(match written.withdrawn_at {
        Some(at) => Record::Withdrawn { last: grant, at: time(at)? },
        None => Record::Granted(grant),
    })
}

/// The text of a record.
pub(super) fn write(record: &Record) -> Vec<u8> {
    let (grant, withdrawn_at) = match record {
        Record::Granted(grant) => (grant, None),
        Record::Withdrawn { last, at } => (last, Some(milliseconds(*at))),
    };
    let written = Written { version: VERSION, withdrawn_at, grant: grant.into() };
    let mut text = serde_json::to_vec_pretty(&written).expect("texts and numbers become JSON");
    text.push(b'\n');
    text
}

impl From<&Grant> for WrittenGrant {
    fn from(grant: &Grant) -> WrittenGrant {
        let processes = grant.by.processes.iter().take(PROCESSES);
        WrittenGrant {
            root: Place::of(&grant.root),
            digest: grant.digest.hex(),
            at: milliseconds(grant.at),
            means: match grant.by.means {
                Means::Terminal => WrittenMeans::Terminal,
                Means::Editor => WrittenMeans::Editor,
                Means::System => WrittenMeans::System,
            },
            processes: processes.map(|name| name.chars().take(PROCESS).collect()).collect(),
            files: grant
                .files
                .iter()
                .map(|file| WrittenFile {
                    path: file.path.clone(),
                    sha256: file.sha256.clone(),
                    size: file.size,
                    executable: file.executable,
                })
                .collect(),
        }
    }
}

impl TryFrom<WrittenGrant> for Grant {
    type Error = String;

    fn try_from(written: WrittenGrant) -> Result<Grant, String> {
        let root = written.root.path().ok_or("names a root that is no path here")?;
        let digest = TreeDigest::parse(&written.digest).ok_or("has no digest of 64 hex digits")?;
        let mut parts = Vec::with_capacity(written.files.len());
        for file in &written.files {
            let sha256 = parse_sha256(&file.sha256).ok_or("has a file without a hash of 64 hex digits")?;
            parts.push(Part { path: &file.path, executable: file.executable, size: file.size, sha256 });
        }
        if parts.is_empty() || TreeDigest::of_parts(parts) != digest {
            return Err("names a digest that is not the one of its files".to_owned());
        }
        let means = match written.means {
            WrittenMeans::Terminal => Means::Terminal,
            WrittenMeans::Editor => Means::Editor,
            WrittenMeans::System => Means::System,
        };
        let files = written.files.into_iter().map(|file| GrantedFile {
            path: file.path,
            sha256: file.sha256,
            size: file.size,
            executable: file.executable,
        });
        let by = Grantor { means, processes: written.processes };
        Ok(Grant { root, digest, files: files.collect(), at: time(written.at)?, by })
    }
}

impl Place {
    pub(crate) fn of(path: &Path) -> Place {
        match path.to_str() {
            Some(text) => Place::Path(text.to_owned()),
            None => Place::PathBytes(system::digest::hex(path.as_os_str().as_encoded_bytes())),
        }
    }

    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Place::Path(text) => Some(PathBuf::from(text)),
            Place::PathBytes(hex) => path_of_hex(hex),
        }
    }
}

#[cfg(unix)]
fn path_of_hex(hex: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let pairs = hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect::<Option<Vec<u8>>>().map(|bytes| std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_of_hex(_: &str) -> Option<PathBuf> {
    None
}

/// The time so many milliseconds after 1970, if there is one.
pub(super) fn time(milliseconds: u64) -> Result<SystemTime, String> {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds));
    time.ok_or_else(|| "has a time that is none".to_owned())
}
