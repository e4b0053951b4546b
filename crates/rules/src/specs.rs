//! What `forbid_calls` and `require_def` name: `subprocess.*(shell=True)`, `Class.method`.

use syntax::Literal;

use crate::names::{NameGlob, is_name_character};

/// One entry of `forbid_calls`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallSpec {
    pub name: NameGlob,
    pub condition: Option<Condition>,
}

/// The keyword argument a call must have to be forbidden.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub keyword: String,
    pub value: Literal,
    /// `(shell=True)`, as written.
    pub text: String,
}

impl CallSpec {
    /// Reads a spec, or says in one line what is wrong and what would be right.
    pub fn new(text: &str) -> Result<CallSpec, String> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else {
            return Ok(CallSpec { name: name(text)?, condition: None });
        };
        let inside = rest.strip_suffix(')').ok_or("`(` without `)` at the end")?;
        if inside.trim().is_empty() {
            return Err(format!(
                "write `{}` without the parentheses",
                text.split('(').next().unwrap_or_default().trim()
            ));
        }
        let (keyword, value) = inside
            .split_once('=')
            .ok_or("between the parentheses stands one keyword condition, as in `(shell=True)`")?;
        let keyword = keyword.trim();
        if keyword.is_empty() || !keyword.chars().all(is_name_character) {
            return Err(format!("`{}` is no keyword", crate::plain::plain(keyword, 40)));
        }
        let value = value.trim();
        let parsed = literal(value).ok_or_else(|| {
            format!(
                "`{}` is no value that can be compared: True, False, None, a number or one quoted string",
                crate::plain::plain(value, 40)
            )
        })?;
        let condition = Condition { keyword: keyword.into(), value: parsed, text: format!("({keyword}={value})") };
        Ok(CallSpec { name: self::name(name)?, condition: Some(condition) })
    }

    /// How a finding names it: `os.system`, `subprocess.run (shell=True)`.
    pub fn describe(&self, name: &str) -> String {
        match &self.condition {
            Some(condition) => format!("{name} {}", condition.text),
            None => name.to_owned(),
        }
    }
}

fn name(text: &str) -> Result<NameGlob, String> {
    NameGlob::new(text)
        .map_err(|why| format!("{why}; a call is named as `os.system`, `subprocess.*`, `open(mode=\"w\")`"))
}

fn literal(text: &str) -> Option<Literal> {
    match text {
        "True" => return Some(Literal::Bool(true)),
        "False" => return Some(Literal::Bool(false)),
        "None" => return Some(Literal::None),
        _ => {}
    }
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            let is_plain = text.len() >= 2 && !inside.contains([quote, '\\']);
            return is_plain.then(|| Literal::Str(inside.into()));
        }
    }
    if let Ok(number) = text.parse::<i128>() {
        return Some(Literal::Int(number));
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse::<f64>().ok().filter(|_| is_number).map(Literal::Float)
}

impl Condition {
    /// Whether a constant argument meets the condition: `True` and `False` mean truth, anything else is equality.
    pub fn is_met_by(&self, value: &Literal) -> bool {
        match (&self.value, value) {
            (Literal::Bool(wanted), value) => truthy(value) == *wanted,
            (Literal::Int(wanted), Literal::Int(value)) => wanted == value,
            (Literal::Int(number), Literal::Bool(truth)) => *number == i128::from(*truth),
            (Literal::Int(whole), Literal::Float(value)) | (Literal::Float(value), Literal::Int(whole)) => {
                equal(as_float(*whole), *value)
            }
            (Literal::Float(wanted), Literal::Float(value)) => equal(*wanted, *value),
            (wanted, value) => wanted == value,
        }
    }
}

#[expect(clippy::float_cmp, reason = "Python's own `==` is what is asked for")]
fn equal(left: f64, right: f64) -> bool {
    left == right
}

#[expect(clippy::cast_precision_loss, reason = "a number too large for a float equals no float that matters")]
fn as_float(whole: i128) -> f64 {
    whole as f64
}

fn truthy(value: &Literal) -> bool {
    match value {
        Literal::Bool(value) => *value,
        Literal::None => false,
        Literal::Int(value) => *value != 0,
        Literal::Float(value) => *value != 0.0,
        Literal::Str(text) => !text.is_empty(),
        Literal::Other { truthy } => *truthy,
    }
}

/// Why a text is no entry of `require_def`.
pub(crate) fn definition_fault(text: &str) -> Option<String> {
    let is_name = |segment: &str| {
        segment.chars().all(is_name_character) && !segment.starts_with(char::is_numeric) && !segment.is_empty()
    };
    (!text.trim().split('.').all(is_name))
        .then(|| "a definition is named as `function` or `Class.method`, without parentheses or wildcards".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_with_conditions() {
        for (text, keyword, value) in [
            ("subprocess.*(shell=True)", "shell", Literal::Bool(true)),
            (" open ( closefd = False ) ", "closefd", Literal::Bool(false)),
            ("open(mode=\"w\")", "mode", Literal::Str("w".into())),
            ("f(x='')", "x", Literal::Str(String::new())),
            ("f(x=-1)", "x", Literal::Int(-1)),
            ("f(x=0.5)", "x", Literal::Float(0.5)),
            ("f(x=None)", "x", Literal::None),
        ] {
            let condition = CallSpec::new(text).unwrap().condition.unwrap();
            assert_eq!((condition.keyword.as_str(), condition.value), (keyword, value), "{text}");
        }
        assert_eq!(CallSpec::new(" os.system ").unwrap().condition, None);
    }

    #[test]
    fn texts_that_are_no_specs() {
        for (text, says) in [
            ("eval()", "write `eval`"),
            ("", "empty"),
            ("open(mode)", "(shell=True)"),
            ("open(mode=w)", "no value"),
            ("open(mode=\"w)", "no value"),
            ("open(=1)", "no keyword"),
            ("open(mode=1", "without `)`"),
            ("os system", "no place"),
            ("open(x=inf)", "no value"),
        ] {
            let why = CallSpec::new(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    #[test]
    fn conditions() {
        let met = |spec: &str, value: &Literal| CallSpec::new(spec).unwrap().condition.unwrap().is_met_by(value);
        assert!(met("f(x=True)", &Literal::Int(1)) && met("f(x=True)", &Literal::Str("x".into())));
        assert!(!met("f(x=True)", &Literal::None) && met("f(x=False)", &Literal::None));
        assert!(met("f(x=False)", &Literal::Other { truthy: false }));
        assert!(met("f(x=1)", &Literal::Float(1.0)) && met("f(x=1)", &Literal::Bool(true)));
        assert!(met("f(x='w')", &Literal::Str("w".into())) && !met("f(x='w')", &Literal::Str("r".into())));
        assert!(!met("f(x=None)", &Literal::Int(0)));
    }

    #[test]
    fn definitions() {
        for (text, valid) in [
            ("upgrade", true),
            ("A.method", true),
            ("f()", false),
            ("a.*", false),
            (".a", false),
            ("1a", false),
            ("", false),
        ] {
            assert_eq!(definition_fault(text).is_none(), valid, "{text}");
        }
    }
}
