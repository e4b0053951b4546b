//! Counting what passed and what failed, from what the runners print.

use std::fmt;

/// How many checks passed and failed, and the names of those that failed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub failures: Vec<String>,
}

impl Tally {
    /// One check.
    pub fn of(name: &str, passed: bool) -> Tally {
        if passed { Tally { passed: 1, ..Tally::default() } } else { Tally::failure(name) }
    }

    /// One failed check.
    pub fn failure(name: &str) -> Tally {
        Tally { passed: 0, failed: 1, failures: vec![name.to_owned()] }
    }

    /// Adds another tally's counts.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
    }

    /// Reads one line of `cargo test`: a failed test's name, or the closing line of one test program.
    pub fn read_cargo_line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(name.to_owned());
        } else if let Some(summary) = line.strip_prefix("test result: ") {
            self.passed += count_before(summary, " passed");
            self.failed += count_before(summary, " failed");
        }
    }

    /// Reads one line of Node.js's test runner in the form of TAP.
    pub fn read_node_line(&mut self, line: &str) {
        let number = |start| line.strip_prefix(start).and_then(|count: &str| count.parse::<u64>().ok());
        if let Some((_, name)) = line.strip_prefix("not ok ").and_then(|rest| rest.split_once(" - ")) {
            self.failures.push(name.to_owned());
        }
        self.passed += number("# pass ").unwrap_or(0);
        self.failed += number("# fail ").unwrap_or(0);
    }

    /// Reads one line of a script that prints `FAIL name` for each failed check and `N passed, N failed` at its end.
    pub fn read_script_line(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("FAIL ") {
            self.failures.push(name.to_owned());
        } else if line.ends_with(" failed") && line.contains(" passed, ") {
            self.passed += count_before(line, " passed");
            self.failed += count_before(line, " failed");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The number that stands right before `word`; 0 when there is none.
fn count_before(line: &str, word: &str) -> u64 {
    let Some((head, _)) = line.split_once(word) else { return 0 };
    let digits = head.len() - head.trim_end_matches(|character: char| character.is_ascii_digit()).len();
    head[head.len() - digits..].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_lines_are_summed() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a::good ... ok",
            "test a::bad ... FAILED",
            "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.01s",
            "test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "9 passed, 9 failed",
        ] {
            tally.read_cargo_line(line);
        }
        assert_eq!(tally, Tally { passed: 42, failed: 1, failures: vec!["a::bad".to_owned()] });
    }

    #[test]
    fn lines_of_node_are_summed() {
        let mut tally = Tally::default();
        for line in ["ok 1 - a setting", "not ok 2 - a path", "# tests 9", "# pass 8", "# fail 1", "# skipped 0"] {
            tally.read_node_line(line);
        }
        assert_eq!(tally, Tally { passed: 8, failed: 1, failures: vec!["a path".to_owned()] });
    }

    #[test]
    fn script_lines_are_summed() {
        let mut tally = Tally::default();
        for line in
            ["ok   attached", "FAIL column  got 3", "13 passed, 1 failed", "test result: ok. 5 passed; 0 failed"]
        {
            tally.read_script_line(line);
        }
        assert_eq!(tally, Tally { passed: 13, failed: 1, failures: vec!["column  got 3".to_owned()] });
    }
}
