//! Finds in the message of a provider how long one should wait.

use std::time::Duration;

/// The longest wait that is believed.
const LONGEST: Duration = Duration::from_hours(7 * 24);

/// Words before a time that one should wait.
const BEFORE: [&str; 7] = [
    "try again in ",
    "retry after ",
    "retry in ",
    "resets in ",
    "reset in ",
    "reset after ",
    "available in ",
];

/// Fields of JSON with a number of seconds.
const FIELDS: [&str; 4] = [
    "\"resets_in_seconds\":",
    "\"retry_after\":",
    "\"retry_after_seconds\":",
    "\"retryafter\":",
];

/// Returns the time that a message in lower case names.
pub(super) fn wait_in(lower: &str) -> Option<Duration> {
    let behind = |words: &[&str]| {
        let mut words = words.iter();
        words.find_map(|word| {
            let place = lower.find(word)?;
            lower.get(place + word.len()..).map(str::trim_start)
        })
    };
    let seconds = behind(&FIELDS)
        .and_then(|text| number(text).map(|(seconds, _)| seconds))
        .or_else(|| behind(&BEFORE).and_then(span))?;
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    (!wait.is_zero()).then(|| wait.min(LONGEST))
}

/// Reads the number at the beginning of a text, and returns the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.';
    let end = text.find(|letter: char| !is_part(letter));
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    let number = digits.trim_end_matches('.').parse().ok()?;
    Some((number, rest))
}

/// Reads a time such as `20s`, `6m0s`, `1h 30m`, `250ms` or `12 minutes`, in seconds.
fn span(mut text: &str) -> Option<f64> {
    let mut seconds = None;
    while let Some((count, rest)) = number(text) {
        let rest = rest.trim_start();
        let end = rest.find(|letter: char| !letter.is_ascii_alphabetic());
        let (unit, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let size = match unit {
            "ms" | "milliseconds" => 0.001,
            "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => break,
        };
        *seconds.get_or_insert(0.0) += count * size;
        text = rest.trim_start();
    }
    seconds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_wait_that_a_provider_names_is_read() {
        for (message, seconds) in [
            ("please try again in 20s. visit x", Some(20.0)),
            ("please try again in 6m0s.", Some(360.0)),
            ("try again in 1h 30m", Some(5_400.0)),
            ("retry after 12 minutes", Some(720.0)),
            ("try again in 250ms", Some(0.25)),
            ("{\"resets_in_seconds\": 3600}", Some(3_600.0)),
            ("resets in 400 days", Some(604_800.0)),
            ("try again in a while", None),
            ("try again in 0s", None),
            ("rate limit reached", None),
        ] {
            let expected = seconds.map(Duration::from_secs_f64);
            assert_eq!(wait_in(message), expected, "{message}");
        }
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic_or_wait_for_ever(rest in ".{0,60}") {
            for word in BEFORE.iter().chain(&FIELDS) {
                let wait = wait_in(&format!("{word}{rest}"));
                prop_assert!(wait.is_none_or(|wait| wait <= LONGEST));
            }
        }
    }
}
