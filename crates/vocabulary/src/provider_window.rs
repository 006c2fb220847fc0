//! The windows in which a provider counts the use of a subscription: five hours, a week. A provider
//! tells in headers of its answers how much of them is used.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::child_protocol::Dialog;

/// The word before the headers that a child tells as the title of its terminal. Nobody sees that, and
/// pi passes it on.
pub const WINDOWS_TITLE: &str = "pi-subagents windows ";

/// The beginnings of the names of the headers that tell windows.
pub const WINDOW_HEADERS: [&str; 2] = ["anthropic-ratelimit-unified-", "x-codex-"];

/// A part of a whole, in hundredths.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Percent(pub u16);

/// The length of a window in minutes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct WindowLength(pub u32);

/// The use of one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderWindow {
    /// The length.
    pub length: WindowLength,
    /// The used part.
    pub used: Percent,
}

impl Percent {
    /// Makes a part out of a number from 0 to 1; `None` for a number that is none.
    pub fn of_share(share: f64) -> Option<Self> {
        let hundredths = (share * 100.0).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 1000"
        )]
        (0.0..=1000.0)
            .contains(&hundredths)
            .then_some(Self(hundredths as u16))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} %", self.0)
    }
}

/// `5-hour window`.
impl fmt::Display for WindowLength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HOUR: u32 = 60;
        const DAY: u32 = 24 * HOUR;
        match self.0 {
            minutes if minutes > 0 && minutes.is_multiple_of(DAY) => {
                write!(formatter, "{}-day window", minutes / DAY)
            }
            minutes if minutes > 0 && minutes.is_multiple_of(HOUR) => {
                write!(formatter, "{}-hour window", minutes / HOUR)
            }
            minutes => write!(formatter, "{minutes}-minute window"),
        }
    }
}

impl ProviderWindow {
    /// Reads the windows that a child has told; `None` for another dialog.
    pub fn told_by(dialog: &Dialog) -> Option<Vec<Self>> {
        let title = dialog.title.as_deref().filter(|_| !dialog.is_waiting())?;
        let headers = title.strip_prefix(WINDOWS_TITLE)?;
        let headers: BTreeMap<String, String> = serde_json::from_str(headers).ok()?;
        Some(Self::of_headers(&headers))
    }

    /// Reads the windows in the headers of an answer, whose names are in lower case. Headers that are
    /// not understood are passed over.
    pub fn of_headers(headers: &BTreeMap<String, String>) -> Vec<Self> {
        let of_anthropic = headers.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(WINDOW_HEADERS[0])?;
            let length = length_of(name.strip_suffix("-utilization")?)?;
            let used = Percent::of_share(value.parse().ok()?)?;
            Some(Self { length, used })
        });
        let of_codex = ["primary", "secondary"].into_iter().filter_map(|which| {
            let value = |what: &str| headers.get(&format!("x-codex-{which}-{what}"));
            let length = WindowLength(value("window-minutes")?.parse().ok()?);
            let percent: f64 = value("used-percent")?.parse().ok()?;
            let used = Percent::of_share(percent / 100.0)?;
            Some(Self { length, used })
        });
        of_anthropic.chain(of_codex).collect()
    }
}

/// Reads `5h`, `7d` or `7d_sonnet`; `None` for another word, such as that of paid overage.
fn length_of(word: &str) -> Option<WindowLength> {
    let word = word.split('_').next()?;
    let (digits, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let minutes = match unit {
        "h" => 60,
        "d" => 24 * 60,
        _ => return None,
    };
    let count: u32 = digits.parse().ok()?;
    count.checked_mul(minutes).map(WindowLength)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(headers: &[(&str, &str)]) -> Vec<String> {
        let headers = headers.iter();
        let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let windows = ProviderWindow::of_headers(&headers.collect());
        let words = |one: &ProviderWindow| format!("{}: {}", one.length, one.used);
        windows.iter().map(words).collect()
    }

    #[test]
    fn the_headers_of_both_providers_are_read_and_others_are_passed_over() {
        let anthropic = [
            ("anthropic-ratelimit-unified-5h-utilization", "0.424"),
            ("anthropic-ratelimit-unified-5h-reset", "1790814600"),
            ("anthropic-ratelimit-unified-7d-utilization", "0.18"),
            ("anthropic-ratelimit-unified-7d_sonnet-utilization", "1.02"),
            ("anthropic-ratelimit-unified-overage-utilization", "0.9"),
            ("anthropic-ratelimit-unified-5h-status", "allowed"),
        ];
        assert_eq!(
            read(&anthropic),
            [
                "5-hour window: 42 %",
                "7-day window: 18 %",
                "7-day window: 102 %"
            ]
        );
        let codex = [
            ("x-codex-primary-used-percent", "12.5"),
            ("x-codex-primary-window-minutes", "300"),
            ("x-codex-secondary-used-percent", "61"),
            ("x-codex-secondary-window-minutes", "10080"),
        ];
        assert_eq!(read(&codex), ["5-hour window: 13 %", "7-day window: 61 %"]);
        let nonsense = [
            ("anthropic-ratelimit-unified--utilization", "0.1"),
            ("anthropic-ratelimit-unified-5h-utilization", "NaN"),
            ("anthropic-ratelimit-unified-é-utilization", "1"),
            ("x-codex-primary-used-percent", "12.5"),
        ];
        assert_eq!(read(&nonsense), Vec::<String>::new());
    }

    #[test]
    fn a_child_tells_them_as_a_title_and_nothing_else_is_taken_for_it() {
        let told = |method: &str, title: &str| {
            let dialog = Dialog {
                method: method.to_owned(),
                title: Some(title.to_owned()),
                ..Dialog::default()
            };
            ProviderWindow::told_by(&dialog).map(|windows| windows.len())
        };
        let headers = r#"{"anthropic-ratelimit-unified-5h-utilization":"0.5"}"#;
        assert_eq!(
            told("setTitle", &format!("{WINDOWS_TITLE}{headers}")),
            Some(1)
        );
        assert_eq!(told("input", &format!("{WINDOWS_TITLE}{headers}")), None);
        assert_eq!(told("setTitle", &format!("{WINDOWS_TITLE}{{")), None);
        assert_eq!(told("setTitle", headers), None);
    }
}
