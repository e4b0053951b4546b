//! URIs and paths. Inside, files are paths; a URI that names no file has none.

use std::path::{Path, PathBuf};

use tower_lsp::lsp_types::Url;

/// The file that a URI names; none for another scheme or another host.
pub fn to_path(uri: &Url) -> Option<PathBuf> {
    (uri.scheme() == "file").then(|| uri.to_file_path().ok()).flatten()
}

/// The file that a URI in text form names.
pub fn text_to_path(uri: &str) -> Option<PathBuf> {
    to_path(&Url::parse(uri).ok()?)
}

/// The URI of a file; none for a path that is not absolute.
pub fn from_path(path: &Path) -> Option<Url> {
    Url::from_file_path(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_have_paths() {
        for (uri, expected) in [
            ("file:///w/a.py", Some("/w/a.py")),
            ("file:///w/%C3%A4%20b.py", Some("/w/ä b.py")),
            ("file:///w/ä b.py", Some("/w/ä b.py")),
            ("FILE:///w/../x/[1].py", Some("/x/[1].py")),
            ("file://localhost/w/a.py", Some("/w/a.py")),
            ("file://elsewhere/w/a.py", None),
            ("untitled:Untitled-1", None),
            ("git:/w/a.py?%7B%22ref%22%7D", None),
            ("vscode-notebook-cell:/w/n.ipynb#W0s", None),
            ("http://h/w/a.py", None),
            ("a.py", None),
            ("", None),
        ] {
            assert_eq!(text_to_path(uri).as_deref(), expected.map(Path::new), "{uri}");
        }
    }
}
