//! Tree-sitter-python's node kinds as one small enum, looked up by kind id.
//!
//! The walk meets every node of a file, so it asks a table by number and never compares names.

use std::sync::OnceLock;

/// What a node is to the walk. Kinds that need no treatment of their own share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Keywords, punctuation: nothing inside.
    Token,
    /// A statement or clause without a value; what happens inside is all there is to it.
    Statement,
    /// An `if`, a loop, a `try`, a `match`: what is bound inside may not be.
    Conditional,
    /// An expression whose value is not followed.
    Expression,
    /// A display (list, tuple, set): its elements are stored.
    Display,
    Argument,
    Arguments,
    As,
    AsTarget,
    Assignment,
    Attribute,
    Augmented,
    Binary,
    Block,
    Call,
    Case,
    Choice,
    Class,
    ClassPattern,
    Comment,
    Comprehension,
    Concatenated,
    Constant,
    Decorated,
    Decorator,
    DefaultParameter,
    Delete,
    Dictionary,
    DictionarySplat,
    DottedName,
    Error,
    Exec,
    ExpressionStatement,
    False,
    ForIn,
    For,
    Function,
    FutureImport,
    Global,
    ImportAlias,
    ImportFrom,
    Import,
    Interpolation,
    KeywordPattern,
    Lambda,
    LambdaParameters,
    Name,
    Named,
    None,
    Nonlocal,
    Number,
    Pair,
    Parameters,
    Parenthesized,
    Pass,
    Print,
    RelativeImport,
    /// `return`, `yield`: the value leaves.
    Return,
    Splat,
    SplatPattern,
    Star,
    String,
    Subscript,
    True,
    Type,
    TypeAlias,
    TypeParameters,
    TypedParameter,
    Unary,
}

const KINDS: &[(&str, Kind)] = &[
    ("aliased_import", Kind::ImportAlias),
    ("argument_list", Kind::Arguments),
    ("as_pattern", Kind::As),
    ("as_pattern_target", Kind::AsTarget),
    ("assignment", Kind::Assignment),
    ("attribute", Kind::Attribute),
    ("augmented_assignment", Kind::Augmented),
    ("await", Kind::Expression),
    ("binary_operator", Kind::Binary),
    ("block", Kind::Block),
    ("boolean_operator", Kind::Choice),
    ("break_statement", Kind::Token),
    ("call", Kind::Call),
    ("case_pattern", Kind::Case),
    ("class_definition", Kind::Class),
    ("class_pattern", Kind::ClassPattern),
    ("comment", Kind::Comment),
    ("comparison_operator", Kind::Expression),
    ("concatenated_string", Kind::Concatenated),
    ("conditional_expression", Kind::Choice),
    ("continue_statement", Kind::Token),
    ("decorated_definition", Kind::Decorated),
    ("decorator", Kind::Decorator),
    ("default_parameter", Kind::DefaultParameter),
    ("delete_statement", Kind::Delete),
    ("dictionary", Kind::Dictionary),
    ("dictionary_comprehension", Kind::Comprehension),
    ("dictionary_splat", Kind::DictionarySplat),
    ("dictionary_splat_pattern", Kind::Splat),
    ("dotted_name", Kind::DottedName),
    ("ellipsis", Kind::Constant),
    ("escape_interpolation", Kind::Token),
    ("escape_sequence", Kind::Token),
    ("exec_statement", Kind::Exec),
    ("expression_list", Kind::Display),
    ("expression_statement", Kind::ExpressionStatement),
    ("false", Kind::False),
    ("float", Kind::Number),
    ("for_in_clause", Kind::ForIn),
    ("for_statement", Kind::For),
    ("format_expression", Kind::Interpolation),
    ("function_definition", Kind::Function),
    ("future_import_statement", Kind::FutureImport),
    ("generator_expression", Kind::Comprehension),
    ("global_statement", Kind::Global),
    ("identifier", Kind::Name),
    ("if_statement", Kind::Conditional),
    ("import_from_statement", Kind::ImportFrom),
    ("import_statement", Kind::Import),
    ("integer", Kind::Number),
    ("interpolation", Kind::Interpolation),
    ("keyword_argument", Kind::Argument),
    ("keyword_pattern", Kind::KeywordPattern),
    ("keyword_separator", Kind::Token),
    ("lambda", Kind::Lambda),
    ("lambda_parameters", Kind::LambdaParameters),
    ("line_continuation", Kind::Token),
    ("list", Kind::Display),
    ("list_comprehension", Kind::Comprehension),
    ("list_pattern", Kind::Display),
    ("list_splat", Kind::Splat),
    ("list_splat_pattern", Kind::Splat),
    ("match_statement", Kind::Conditional),
    ("module", Kind::Block),
    ("named_expression", Kind::Named),
    ("none", Kind::None),
    ("nonlocal_statement", Kind::Nonlocal),
    ("not_operator", Kind::Expression),
    ("pair", Kind::Pair),
    ("parameters", Kind::Parameters),
    ("parenthesized_expression", Kind::Parenthesized),
    ("pass_statement", Kind::Pass),
    ("pattern_list", Kind::Display),
    ("positional_separator", Kind::Token),
    ("print_statement", Kind::Print),
    ("relative_import", Kind::RelativeImport),
    ("return_statement", Kind::Return),
    ("set", Kind::Display),
    ("set_comprehension", Kind::Comprehension),
    ("slice", Kind::Expression),
    ("splat_pattern", Kind::SplatPattern),
    ("string", Kind::String),
    ("string_content", Kind::Token),
    ("string_end", Kind::Token),
    ("string_start", Kind::Token),
    ("subscript", Kind::Subscript),
    ("true", Kind::True),
    ("try_statement", Kind::Conditional),
    ("tuple", Kind::Display),
    ("tuple_pattern", Kind::Display),
    ("type", Kind::Type),
    ("type_alias_statement", Kind::TypeAlias),
    ("type_conversion", Kind::Token),
    ("type_parameter", Kind::TypeParameters),
    ("typed_default_parameter", Kind::DefaultParameter),
    ("typed_parameter", Kind::TypedParameter),
    ("unary_operator", Kind::Unary),
    ("while_statement", Kind::Conditional),
    ("wildcard_import", Kind::Star),
    ("yield", Kind::Return),
];

/// The kind of each kind id.
pub(super) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(super) fn get() -> &'static Kinds {
        static KINDS_BY_ID: OnceLock<Kinds> = OnceLock::new();
        KINDS_BY_ID.get_or_init(|| {
            let grammar: tree_sitter::Language = tree_sitter_python::LANGUAGE.into();
            let ids = 0..u16::try_from(grammar.node_kind_count()).expect("kind ids are u16");
            let kind_of = |id| {
                if !grammar.node_kind_is_named(id) {
                    return Kind::Token;
                }
                let name = grammar.node_kind_for_id(id).unwrap_or_default();
                KINDS.iter().find(|(known, _)| *known == name).map_or(Kind::Statement, |(_, kind)| *kind)
            };
            Kinds(ids.map(kind_of).collect())
        })
    }

    pub(super) fn of(&self, id: u16) -> Kind {
        // The id of ERROR nodes lies behind all others.
        self.0.get(id as usize).copied().unwrap_or(Kind::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_one_of_the_grammar() {
        let grammar: tree_sitter::Language = tree_sitter_python::LANGUAGE.into();
        for (name, _) in KINDS {
            assert_ne!(grammar.id_for_node_kind(name, true), 0, "{name}");
        }
    }
}
