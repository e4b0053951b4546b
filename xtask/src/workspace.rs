//! Where things are: the repository, what cargo builds, and the cache of downloaded tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A program of ours as a profile leaves it; `triple` is given when it was built with `--target`.
pub fn program(name: &str, profile: &str, triple: Option<&str>) -> PathBuf {
    let folder = if profile == "dev" { "debug" } else { profile };
    let mut path = target();
    path.extend(triple);
    path.join(folder).join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// The folder for downloads that outlive a clone, one folder in it for each tool and version.
pub fn cache() -> Result<PathBuf> {
    let base = match std::env::var_os("XDG_CACHE_HOME") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        _ => std::env::home_dir().context("there is no home folder to cache downloads in")?.join(".cache"),
    };
    Ok(base.join("ruleline-xtask"))
}

/// The version that the workspace builds.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
