//! Where the product's other program is.

use std::path::{Path, PathBuf};

/// The server beside this program, else the first one on the PATH.
///
/// # Errors
/// In one line: there is none.
pub fn server(own: &Path) -> Result<PathBuf, String> {
    let name = format!("ruleline-server{}", std::env::consts::EXE_SUFFIX);
    let beside = own.with_file_name(&name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A relative entry means whatever folder one stands in.
    let on_path = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    let found = std::iter::once(beside).chain(on_path).find(|program| program.is_file());
    found.ok_or_else(|| format!("{name} is neither beside {} nor on the PATH", own.display()))
}
