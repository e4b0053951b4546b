//! Whether a search is for a name: only then would an index have answered it.

/// Words that introduce a definition in some language, and those that stand before them.
const KEYWORDS: [&str; 24] = [
    "def",
    "class",
    "fn",
    "func",
    "function",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "static",
    "pub",
    "export",
    "async",
    "import",
    "from",
    "new",
    "return",
    "public",
    "private",
];
/// Longest pattern that is looked at, in bytes: longer ones are no names.
const LONGEST: usize = 500;
/// Most names of one pattern.
const NAMES: usize = 8;

/// The names that a pattern searches for, without what regular expressions put around a name (`\b`, anchors, blanks, an
/// opening bracket) and without the words that introduce a definition; the last part of a dotted one stands for all of
/// it. Empty for a phrase, a key with other signs in it, a path.
pub fn names(pattern: &str) -> Vec<String> {
    if pattern.len() > LONGEST {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    for alternative in alternatives(pattern) {
        if let Some(name) = name(alternative).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names.truncate(NAMES);
    names
}

/// The parts between `|`, with the brackets of a group around them taken away.
fn alternatives(pattern: &str) -> impl Iterator<Item = &str> {
    let inner = pattern.trim();
    let inner = inner.strip_prefix("(?i)").unwrap_or(inner);
    let group = inner.strip_prefix("(?:").or_else(|| inner.strip_prefix('('));
    let inner =
        group.and_then(|inner| inner.strip_suffix(')')).filter(|inner| !inner.contains(['(', ')'])).unwrap_or(inner);
    // `\|` is how grep writes it.
    inner.split('|').map(|part| part.strip_suffix('\\').unwrap_or(part))
}

fn name(part: &str) -> Option<String> {
    let plain = part
        .replace("\\b", " ")
        .replace("\\s+", " ")
        .replace("\\s*", " ")
        .replace("\\<", " ")
        .replace("\\>", " ")
        .replace("\\.", ".")
        .replace("::", ".")
        .replace("->", ".");
    let plain = plain.trim().trim_start_matches('^').trim_end_matches('$').trim();
    let plain = ["\\(.*\\)", "\\(.*", "\\(", "(", "\\[", "[", ":", "=", ".*"]
        .iter()
        .fold(plain, |plain, ending| plain.strip_suffix(ending).map_or(plain, str::trim_end));
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    while words.len() > 1 && KEYWORDS.contains(&words[0]) {
        words.remove(0);
    }
    let [name] = words.as_slice() else { return None };
    let parts: Vec<&str> = name.split('.').collect();
    let is_name = parts.iter().all(|part| is_identifier(part)) && !KEYWORDS.contains(name);
    is_name.then(|| (*name).to_owned())
}

fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_search_is_for_a_name_or_it_is_not() {
        for (pattern, expected) in [
            ("Cart", &["Cart"][..]),
            ("^class Cart\\b", &["Cart"]),
            ("def\\s+make_cart\\s*\\(", &["make_cart"]),
            ("\\bmake_cart\\b", &["make_cart"]),
            ("pub async fn run", &["run"]),
            ("shop\\.cart\\.Cart", &["shop.cart.Cart"]),
            ("std::fs::read", &["std.fs.read"]),
            ("Cart|Order", &["Cart", "Order"]),
            ("Cart\\|Order", &["Cart", "Order"]),
            ("(?:Cart|Order)", &["Cart", "Order"]),
            ("class (Cart|Order)", &[]),
            ("make_cart(", &["make_cart"]),
            ("TODO fix this", &[]),
            ("no such file", &[]),
            ("server.port: 80", &[]),
            ("src/**/*.py", &[]),
            ("max-width", &[]),
            ("[a-z]+_test", &[]),
            ("class", &[]),
            ("", &[]),
            ("x", &["x"]),
        ] {
            assert_eq!(super::names(pattern), expected, "{pattern}");
        }
        assert!(super::names(&"a".repeat(501)).is_empty());
    }
}
