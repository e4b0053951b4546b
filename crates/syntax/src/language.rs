//! Which language a file is in: by its name, else by its first line.

/// A language the engine reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python 3.
    Python,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 1] = [Language::Python];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
        }
    }

    /// The language of this name.
    pub fn named(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// The language of the file at `path` (any separators) with this text: `.py`, `.pyi`, `.pyw` in any case, or no
    /// extension and a python shebang.
    pub fn of(path: &str, text: &str) -> Option<Language> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((_, extension)) => ["py", "pyi", "pyw"]
                .iter()
                .any(|known| extension.eq_ignore_ascii_case(known))
                .then_some(Language::Python),
            None => python_shebang(text).then_some(Language::Python),
        }
    }

    /// Whether the names in a text stand in it as the language reads them: a coding line may say otherwise.
    pub fn reads_as_written(self, text: &str) -> bool {
        match self {
            Language::Python => crate::python::reads_as_utf8(text),
        }
    }
}

fn python_shebang(text: &str) -> bool {
    let Some(line) = text.strip_prefix("#!").and_then(|rest| rest.lines().next()) else {
        return false;
    };
    line.split_whitespace().take(4).any(|word| word.rsplit('/').next().is_some_and(|name| name.starts_with("python")))
}
