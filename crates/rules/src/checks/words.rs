//! Whether a text is worth parsing: the words of which one stands wherever a forbidden name can be meant.

use crate::case::Case;
use crate::names::NameGlob;

/// Words by which a name is looked up at run time, so that it need not stand in the text as it is.
const DYNAMIC: [&str; 11] = [
    "getattr",
    "__import__",
    "import_module",
    "importlib",
    "__dict__",
    "__builtins__",
    "vars",
    "globals",
    "locals",
    "modules",
    "attrgetter",
];

/// Whether one of these names, or a look-up by a computed name, may be in the code.
pub(crate) fn may_name<'n>(case: &mut Case, names: impl IntoIterator<Item = &'n NameGlob>) -> bool {
    let code = case.searchable();
    names.into_iter().any(|name| name.word().is_none_or(|word| has_word(&code, word)))
        || DYNAMIC.iter().any(|word| has_word(&code, word))
}

fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memchr::memmem::find_iter(bytes, word).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        for (text, word, expected) in [
            ("eval(x)", "eval", true),
            ("evaluate(x)", "eval", false),
            ("_eval eval_", "eval", false),
            ("medieval, eval", "eval", true),
            ("", "eval", false),
        ] {
            assert_eq!(has_word(text, word), expected, "{text}");
        }
    }
}
