//! What a hook that ran said, by exit code and by JSON on stdout; the stricter of the two wins.

/// What a hook says of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Nothing.
    Continue,
    /// Goes ahead.
    Allow,
    /// A person decides.
    Ask,
    /// Blocked.
    Deny,
}

/// How one hook came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Said {
        /// What.
        word: Word,
        /// Why; bounded, escaped, may be empty.
        reason: String,
    },
    /// It ran and failed: another exit code. In one line.
    Failed(String),
    /// It was stopped at its deadline, or killed by a signal. In one line.
    Ended(String),
    /// It never ran. In one line.
    Unstarted(String),
}

/// What a process left behind.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// None: ended by a signal.
    pub code: Option<i32>,
    /// The first bytes of stdout, and whether that is all.
    pub stdout: &'a [u8],
    /// Stdout was longer.
    pub stdout_cut: bool,
    /// The first bytes of stderr.
    pub stderr: &'a [u8],
}

/// Reads what a process left behind; `name` is how it is called in texts. The second value is a note for the person
/// where stdout held text that is not an answer.
pub fn read(_name: &str, _left: Left<'_>) -> (Outcome, Option<String>) {
    unimplemented!()
}
