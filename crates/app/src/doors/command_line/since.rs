//! Reads how long ago something was: `2h`, `3d`.

use std::time::Duration;

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
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("1w", 604_800)] {
            assert_eq!(parse_age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "h", "2", "-2h", "1.5h", "2é", "9999999999999999w"] {
            assert!(parse_age(text).is_err(), "{text}");
        }
    }
}
