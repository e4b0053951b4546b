//! How much work judging took: what tests hold steady instead of time.

/// Counts of costly steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Regexes compiled; those compiled before are not counted again.
    pub patterns_compiled: usize,
    /// Regexes run over text.
    pub patterns_tried: usize,
    /// Texts whose facts were asked for.
    pub texts_parsed: usize,
}
