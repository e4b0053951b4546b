//! Paths, times and counts as sentences of this crate show them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rules::plain::{PATH, plain};

/// A path in one line, escaped.
pub(crate) fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy(), PATH)
}

/// `1 file`, `3 files`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// Milliseconds since 1970; 0 before.
pub(crate) fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

/// `2026-12-01 04:05 UTC`.
pub(crate) fn date(time: SystemTime) -> String {
    let minutes = milliseconds(time) / 60_000;
    let (days, minutes) = (minutes / (24 * 60), minutes % (24 * 60));
    // Days are counted from the first of March of year 0, so that the day of a leap year is a year's last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_164_800, "2024-02-29 00:00 UTC"),
            (1_709_251_200, "2024-03-01 00:00 UTC"),
            (1_796_097_840, "2026-12-01 04:04 UTC"),
            (4_102_444_799, "2099-12-31 23:59 UTC"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
