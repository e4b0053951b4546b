//! The least that a hook can be: reads a payload as JSON and has nothing to say.

use std::io::Read;

fn main() {
    let mut payload = Vec::new();
    let read = std::io::stdin().read_to_end(&mut payload);
    let value = serde_json::from_slice::<serde_json::Value>(&payload).unwrap_or_default();
    if read.is_err() || value["tool_name"] == "no such tool" {
        std::process::exit(1);
    }
}
