//! The language server.
fn main() {}
