//! Counts how often the instruction check speaks on ordinary files: `alarms FOLDER...` reads every text file below as if
//! it were just written, prints each alarm, and last the rate for 10,000 lines. Touches nothing.

use std::io::Write;
use std::path::PathBuf;

use rules::{Change, instructions};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (mut files, mut lines, mut alarms) = (0u32, 0u32, 0u32);
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    while let Some(path) = folders.pop() {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            folders.extend(std::fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
            continue;
        }
        let Some(text) = std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else { continue };
        if text.contains('\0') {
            continue;
        }
        let name = path.to_string_lossy().into_owned();
        let change = Change::created(name.clone(), vec![name], text.as_str().into());
        files += 1;
        lines += change.added.last().map_or(0, |line| line.number);
        for hit in instructions::scan(&change) {
            alarms += 1;
            let said: String = text[hit.span].chars().take(200).collect();
            writeln!(out, "{}:{}: {said}", path.display(), hit.line)?;
        }
    }
    let rate = f64::from(alarms) * 10_000.0 / f64::from(lines.max(1));
    writeln!(out, "{files} files, {lines} lines, {alarms} alarms: {rate:.2} in 10,000 lines")
}
