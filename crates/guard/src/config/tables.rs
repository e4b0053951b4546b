//! Tables of `config.toml` with keys of their own: the reminder, the approval of symbolic tools, sessions.
//!
//! A table is taken over as a whole or, where something in it is wrong, not at all.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{AutoApprove, IndexLimits, Session, choice};
use crate::remind::{self, Mode};

type Value<'a> = Spanned<DeValue<'a>>;

/// Largest number of calls, of seconds and milliseconds, and of files that are indexed.
const MOST: i64 = 1_000_000;
/// Largest file that is indexed, in KiB. A project may say how much is taken in, but not that it is more than a machine has.
const FILE_KIB: i64 = 65_536;
/// Most symbols that are kept, in MiB.
const MIB: i64 = 1_024;

pub(super) fn reminder(value: &Value<'_>, held: &mut remind::Settings) -> Result<(), String> {
    let mut said = held.clone();
    for (key, value) in table("reminder", value)? {
        let name: &str = key.get_ref();
        let full = format!("reminder.{name}");
        let limits = &mut said.limits;
        let number = match name {
            "mode" => {
                said.mode =
                    Some(choice(&full, value, &[("deny", Mode::Deny), ("advise", Mode::Advise), ("off", Mode::Off)])?);
                continue;
            }
            "servers" => {
                said.servers = texts(&full, value)?;
                continue;
            }
            "searches" => &mut limits.searches,
            "reads" => &mut limits.reads,
            "combined" => &mut limits.combined,
            "search_gap" => &mut limits.search_gap,
            "read_gap" => &mut limits.read_gap,
            "combined_gap" => &mut limits.combined_gap,
            "quiet" => &mut limits.quiet,
            "batch_ms" => &mut limits.batch,
            _ => return Err(unknown("reminder", name)),
        };
        *number = whole(&full, value, MOST)?;
    }
    *held = said;
    Ok(())
}

pub(super) fn symbols(value: &Value<'_>, held: &mut IndexLimits) -> Result<(), String> {
    let mut said = *held;
    for (key, value) in table("symbols", value)? {
        let (number, most) = match &**key.get_ref() {
            "files" => (&mut said.files, MOST),
            "file_kib" => (&mut said.file_kib, FILE_KIB),
            "mib" => (&mut said.mib, MIB),
            name => return Err(unknown("symbols", name)),
        };
        *number = whole(&format!("symbols.{}", key.get_ref()), value, most)?;
    }
    *held = said;
    Ok(())
}

pub(super) fn auto_approve(value: &Value<'_>, held: &mut AutoApprove) -> Result<(), String> {
    let mut said = held.clone();
    for (key, value) in table("auto_approve", value)? {
        let name: &str = key.get_ref();
        match name {
            "servers" => said.servers = texts("auto_approve.servers", value)?,
            "exclude" => said.exclude = texts("auto_approve.exclude", value)?,
            _ => return Err(unknown("auto_approve", name)),
        }
    }
    *held = said;
    Ok(())
}

pub(super) fn session(value: &Value<'_>, held: &mut Session) -> Result<(), String> {
    for (key, value) in table("session", value)? {
        match (&**key.get_ref(), value.get_ref()) {
            ("briefing", DeValue::Boolean(briefing)) => held.briefing = *briefing,
            ("briefing", _) => return Err("`session.briefing` is one of true, false".to_owned()),
            (name, _) => return Err(unknown("session", name)),
        }
    }
    Ok(())
}

fn table<'v, 'a>(name: &str, value: &'v Value<'a>) -> Result<&'v DeTable<'a>, String> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        _ => Err(format!("`{name}` is a table: [{name}]")),
    }
}

fn unknown(table: &str, name: &str) -> String {
    format!("`{table}` has no key `{}`", rules::plain::plain(name, rules::plain::ID))
}

fn texts(name: &str, value: &Value<'_>) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` is a list of texts");
    let DeValue::Array(all) = value.get_ref() else { return Err(wrong()) };
    let text = |one: &Value<'_>| match one.get_ref() {
        DeValue::String(text) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    };
    all.iter().map(text).collect::<Option<_>>().ok_or_else(wrong)
}

fn whole(name: &str, value: &Value<'_>, most: i64) -> Result<u32, String> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let number = number.filter(|number| (1..=most).contains(number)).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("`{name}` is a whole number from 1 to {most}"))
}
