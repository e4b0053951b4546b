//! The checks, one module each: a rule and a change in, findings and what could not be checked out.
//!
//! A check knows nothing of the others: what one cannot evaluate hides no other's finding.

pub(crate) mod calls;
pub(crate) mod definitions;
pub(crate) mod imports;
pub(crate) mod text;
pub(crate) mod unparsed;
