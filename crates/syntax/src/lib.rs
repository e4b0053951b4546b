//! Text to facts: lines and positions, and per language the calls with their dotted names, definitions, imports,
//! comment and string spans; shell commands to simple commands and heredocs.
//!
//! Tree-sitter lives here and nowhere else. Nothing here reads a file, knows a rule or an editor.

pub mod facts;
pub mod language;
pub mod lines;
pub mod position;
mod python;
pub mod shell;
pub mod tree;

pub use facts::{Argument, Call, Definition, DefinitionKind, Facts, Import, Literal, Span, Use};
pub use language::Language;
pub use lines::LineIndex;
pub use tree::{Limits, ParseStop, Tree};
