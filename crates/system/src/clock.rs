//! Times as records and sentences show them, and how long the machine has been up.
//!
//! The wall clock may be set by anybody and jump; [`uptime`] does not. No time zone but UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; 0 before.
pub fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

/// `2026-12-01 04:05 UTC`.
pub fn date(time: SystemTime) -> String {
    let (year, month, day, of_day) = calendar(milliseconds(time));
    let minutes = of_day / 60_000;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// `2026-12-01T04:05:06.789Z` (RFC 3339).
pub fn rfc3339(time: SystemTime) -> String {
    let (year, month, day, of_day) = calendar(milliseconds(time));
    let (seconds, rest) = (of_day / 1000, of_day % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{rest:03}Z")
}

/// Year, month, day, and the milliseconds of that day.
fn calendar(milliseconds: u64) -> (u64, u64, u64, u64) {
    const DAY: u64 = 24 * 60 * 60 * 1000;
    // Days are counted from the first of March of year 0, so that the day of a leap year is a year's last.
    let days = milliseconds / DAY + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day, milliseconds % DAY)
}

/// How long the machine has been up, sleep counted where the system counts it; none where the system does not tell.
pub fn uptime() -> Option<Duration> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let clock = Some(rustix::time::ClockId::Boottime);
    #[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
    let clock = Some(rustix::time::ClockId::Monotonic);
    #[cfg(unix)]
    return clock.map(rustix::time::clock_gettime).and_then(|time| {
        let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
        Some(Duration::new(u64::try_from(time.tv_sec).ok()?, nanoseconds))
    });
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
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
        let time = UNIX_EPOCH + Duration::from_millis(1_796_097_906_789);
        assert_eq!(rfc3339(time), "2026-12-01T04:05:06.789Z");
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }

    #[cfg(unix)]
    #[test]
    fn the_machine_is_up_and_stays_so() {
        let before = uptime().unwrap();
        assert!(before > Duration::ZERO && uptime().unwrap() >= before);
    }
}
