//! Reads how long ago something was: `2h`, `3d` or a date.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use pi_subagents_vocabulary::Timestamp;

/// A time in the past, as a person writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// This time ago.
    Ago(Duration),
    /// At this time.
    At(Timestamp),
}

impl Since {
    /// Returns the time that is meant.
    pub(crate) fn time(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(age) => now.checked_sub(age).unwrap_or(Timestamp::MIN),
            Self::At(time) => time,
        }
    }
}

/// Reads a time: a duration as for [`parse_age`], a date, or a date with a time of day.
pub(crate) fn parse_since(text: &str) -> Result<Since, String> {
    if let Ok(age) = parse_age(text) {
        return Ok(Since::Ago(age));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Since::At(time));
    }
    // A date alone is its midnight.
    let local = text.parse::<DateTime>().ok();
    let time = local.and_then(|local| local.to_zoned(TimeZone::system()).ok());
    time.map(|time| Since::At(time.timestamp())).ok_or_else(|| {
        "write how long ago, such as 30m, 2h, 3d or 1w, or a date such as 2026-11-01 or 2026-11-01T14:30"
            .to_owned()
    })
}

/// Reads a duration: a whole number of seconds, minutes, hours, days or weeks.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number with s, m, h, d or w, such as 30m, 2h, 3d or 1w".to_owned();
    let (digits, unit) = text
        .split_at_checked(text.len().saturating_sub(1))
        .ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let number = digits.parse::<u64>().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        for (text, seconds) in [
            ("90s", 90),
            ("30m", 1800),
            ("2h", 7200),
            ("3d", 259_200),
            ("1w", 604_800),
        ] {
            assert_eq!(parse_age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "h",
            "2",
            "2 h",
            "-2h",
            "1.5h",
            "2é",
            "99999999999999999999d",
            "9999999999999999w",
        ] {
            assert!(parse_age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_is_an_age_or_a_date() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().expect("a time");
        let before: Timestamp = "2026-11-16T10:00:00Z".parse().expect("a time");
        assert_eq!(parse_since("2h").map(|since| since.time(now)), Ok(before));
        assert_eq!(parse_since("2026-11-16T10:00:00Z"), Ok(Since::At(before)));
        assert!(parse_since("2026-11-01").is_ok());
        assert!(parse_since("2026-11-01T14:30").is_ok());
        for text in ["yesterday", "2026-13-01", "11-01", "2026"] {
            assert!(parse_since(text).is_err(), "{text}");
        }
        // An age beyond the first day of the calendar means all of time.
        let ever = parse_since("9000000d").map(|since| since.time(now));
        assert_eq!(ever, Ok(Timestamp::MIN));
    }
}
