//! Times, tokens and costs as people read them, in lists, windows and summaries.

use std::time::Duration;

use jiff::tz::TimeZone;
use pi_subagents_vocabulary::{Allowance, BudgetLimits, Cost, Timestamp, Usage, text};

/// Writes a duration in whole seconds: `7s`, `3m 05s`, `2h 10m`, `4d 2h`.
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Writes how long ago something was: `a moment ago`, `3 minutes ago`, `2 days ago`.
pub fn ago(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (number, unit) = match seconds {
        0..5 => return "a moment ago".to_owned(),
        5..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

/// Writes the time of an event, as short as it is clear: `14:03` today, `Nov 14 09:12` in this
/// year, `2025-11-14` in another one.
pub fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let format = if at.date() == now.date() {
        "%H:%M"
    } else if at.year() == now.year() {
        "%b %e %H:%M"
    } else {
        "%Y-%m-%d"
    };
    at.strftime(format).to_string()
}

/// Writes the time of day with its seconds: `14:03:22`.
pub fn time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
}

/// Writes date and time in full: `2026-11-16 14:03:22`.
pub fn date_and_time(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone())
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

/// Writes a number of tokens: `812`, `4.5k`, `120k`, `1.2M`.
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Writes a number of bytes: `812 B`, `4.5 kB`, `120 MB`, `1.2 GB`.
pub fn bytes(number: u64) -> String {
    let (unit, name) = match number {
        0..1_000 => return format!("{number} B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let (whole, tenth) = (number / unit, number % unit * 10 / unit);
    if whole < 10 {
        format!("{whole}.{tenth} {name}")
    } else {
        format!("{whole} {name}")
    }
}

/// Writes dollars. A cost of nothing, or an unknown one, becomes an empty text. If only a part of
/// the cost is known, the text shows that.
pub fn cost(cost: Cost) -> String {
    let (dollars, lead) = match cost {
        Cost::Known(dollars) => (dollars, ""),
        Cost::AtLeast(dollars) => (dollars, "at least "),
        Cost::Unknown => return String::new(),
    };
    if dollars >= 0.005 {
        format!("{lead}${dollars:.2}")
    } else if dollars > 0.0 && lead.is_empty() {
        "<$0.01".to_owned()
    } else {
        String::new()
    }
}

/// Writes the usage of one run or of several runs together, such as
/// `7 tool calls • 4.5k tokens • $0.03 • 12s`. Figures that are unknown or zero are left out.
pub fn usage_words(
    calls: Option<usize>,
    used_tokens: u64,
    dollars: Cost,
    elapsed: Option<Duration>,
) -> String {
    let parts = [
        calls
            .filter(|calls| *calls > 0)
            .map(|calls| text::count(calls, "tool call")),
        (used_tokens > 0).then(|| format!("{} tokens", tokens(used_tokens))),
        Some(cost(dollars)).filter(|words| !words.is_empty()),
        elapsed.map(clock),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" • ")
}

/// Writes what a run has cost: `$0.42`, or in a budget of dollars also how much it may: `$0.42/2.00`.
pub fn cost_of(usage: &Usage, granted: Option<Allowance>) -> String {
    let limits = granted.map(|granted| BudgetLimits {
        cost: granted.cost,
        ..BudgetLimits::default()
    });
    let of_budget = limits.and_then(|limits| budget_words(usage, &limits));
    of_budget.unwrap_or_else(|| cost(usage.cost()))
}

/// Writes the tokens of a run: `4.5k tokens`, or in a budget of tokens those that count, and how
/// many it may use: `4.1k/20k tokens`.
pub fn tokens_of(usage: &Usage, granted: Option<Allowance>) -> String {
    let limits = granted.map(|granted| BudgetLimits {
        tokens: granted.tokens,
        ..BudgetLimits::default()
    });
    let of_budget = limits.and_then(|limits| budget_words(usage, &limits));
    of_budget.unwrap_or_else(|| usage_words(None, usage.total(), Cost::Unknown, None))
}

/// Writes what is used of a budget: `$0.42/2.00, 18k/500k tokens`. An unknown cost is never written
/// as 0. `None` if neither cost nor tokens are limited.
pub fn budget_words(usage: &Usage, limits: &BudgetLimits) -> Option<String> {
    let cost = limits.cost.map(|limit| {
        let spent = match usage.cost {
            Some(cost) => format!("${cost:.2}"),
            None if usage.total() == 0 => "$0.00".to_owned(),
            None => "—".to_owned(),
        };
        format!("{spent}/{:.2}", limit.amount())
    });
    let tokens = limits
        .tokens
        .map(|limit| format!("{}/{} tokens", tokens(usage.counted()), tokens(limit)));
    let parts: Vec<String> = cost.into_iter().chain(tokens).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_at_every_size() {
        let clocks = [7, 185, 7_800, 360_000].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(clocks, ["7s", "3m 05s", "2h 10m", "4d 4h"]);
        let past =
            [4, 59, 60, 7_200, 90_000, 360_000].map(|seconds| ago(Duration::from_secs(seconds)));
        assert_eq!(
            past,
            [
                "a moment ago",
                "59 seconds ago",
                "1 minute ago",
                "2 hours ago",
                "1 day ago",
                "4 days ago"
            ]
        );
        let counts = [0, 812, 4_520, 120_900, 1_290_000].map(tokens);
        assert_eq!(counts, ["0", "812", "4.5k", "120k", "1.2M"]);
        let sizes = [0, 812, 4_520, 120_900_000, 1_290_000_000].map(bytes);
        assert_eq!(sizes, ["0 B", "812 B", "4.5 kB", "120 MB", "1.2 GB"]);
        let costs = [0.0, 0.001, 1.237].map(|dollars| cost(Cost::Known(dollars)));
        assert_eq!(costs, ["", "<$0.01", "$1.24"]);
        assert_eq!(cost(Cost::Unknown), "");
        let parts = [0.0, 0.001, 1.237].map(|dollars| cost(Cost::AtLeast(dollars)));
        assert_eq!(parts, ["", "", "at least $1.24"]);
    }

    #[test]
    fn a_time_is_as_long_as_it_must_be() {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time");
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = time("2026-11-16T12:00:00Z");
        let moments = [
            "2026-11-16T11:03:22Z",
            "2026-11-15T23:03:22Z",
            "2026-11-05T23:03:22Z",
            "2025-12-31T12:00:00Z",
        ];
        assert_eq!(
            moments.map(|at| moment(time(at), now, &zone)),
            ["13:03", "01:03", "Nov  6 01:03", "2025-12-31"]
        );
        assert_eq!(time_of_day(now, &zone), "14:00:00");
        assert_eq!(date_and_time(now, &zone), "2026-11-16 14:00:00");
    }

    #[test]
    fn only_what_is_known_of_a_run_is_written() {
        let twelve = Some(Duration::from_secs(12));
        let written = [
            usage_words(Some(7), 4_520, Cost::Known(0.031), twelve),
            usage_words(Some(1), 900, Cost::Unknown, None),
            usage_words(Some(0), 0, Cost::Known(0.0), twelve),
            usage_words(None, 0, Cost::Unknown, None),
        ];
        assert_eq!(
            written,
            [
                "7 tool calls • 4.5k tokens • $0.03 • 12s",
                "1 tool call • 900 tokens",
                "12s",
                "",
            ]
        );
    }
}
