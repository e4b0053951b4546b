//! Which tools a hook is for.

/// A pattern over tool names: a regular expression that matches the whole name. Compiled alone first, then anchored, so
/// that no unbalanced pattern escapes; compiled when first asked.
#[derive(Debug, Clone)]
pub struct Matcher {}

impl Matcher {
    /// The pattern of this text.
    ///
    /// # Errors
    /// Why it is no regular expression, or too large, in one line.
    pub fn new(_pattern: &str) -> Result<Matcher, String> {
        unimplemented!()
    }

    /// The text as it was written.
    pub fn pattern(&self) -> &str {
        unimplemented!()
    }

    /// Whether any of these names matches: the agent's own name of the tool, and the canonical one.
    pub fn matches(&self, _names: &[&str]) -> bool {
        unimplemented!()
    }
}
