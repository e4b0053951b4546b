//! The disk as Windows shows it: what stands at a path, and under which name the disk keeps it, be it spelled as a short
//! name, in another case or with a stream.
//!
//! Nothing is looked at that is not on a drive: naming a share is enough to make Windows log on to it.

use std::fs::{self, OpenOptions};
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf, Prefix};

use super::Identity;
use super::names::kept;

/// `FILE_ATTRIBUTE_REPARSE_POINT` of the Windows API.
const REPARSE_POINT: u32 = 0x400;
/// `FILE_FLAG_BACKUP_SEMANTICS`, which opens folders too, and `FILE_FLAG_OPEN_REPARSE_POINT`, which follows no link.
pub(crate) const ITSELF: u32 = 0x0200_0000 | 0x0020_0000;

/// An absolute path that starts at a drive, not at a share or device.
pub(crate) fn is_on_a_drive(path: &Path) -> bool {
    let drive = matches!(path.components().next(), Some(Component::Prefix(prefix))
        if matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_)));
    drive && path.is_absolute()
}

/// A link, junction, mount, or a placeholder of a file that is elsewhere.
pub(crate) fn has_reparse_point(found: &fs::Metadata) -> bool {
    found.file_attributes() & REPARSE_POINT != 0
}

/// What stands at `path`, which is not followed if it is a link; none when nothing is there or it is not on a drive.
pub fn identity(path: &Path) -> Option<Identity> {
    if !is_on_a_drive(path) {
        return None;
    }
    let file = OpenOptions::new().access_mode(0).custom_flags(ITSELF).open(path).ok()?;
    let found = winapi_util::file::information(&file).ok()?;
    Some(Identity { volume: found.volume_serial_number(), file: found.file_index(), names: found.number_of_links() })
}

/// The path with the names that the disk has for what exists, and what a new file would be named for the rest.
pub(super) fn as_kept(path: &Path) -> PathBuf {
    if !is_on_a_drive(path) {
        return path.to_path_buf();
    }
    let named: PathBuf = path
        .components()
        .map(|part| match part {
            Component::Normal(name) => kept(name),
            other => other.as_os_str().to_owned(),
        })
        .collect();
    let on_disk = named.ancestors().find_map(|existing| Some((existing, fs::canonicalize(existing).ok()?)));
    match on_disk.and_then(|(existing, disk)| Some((disk, named.strip_prefix(existing).ok()?))) {
        Some((disk, new)) => super::normalize(&disk.join(new)),
        None => named,
    }
}
