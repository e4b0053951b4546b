//! The `ruleline` command.
fn main() {}
