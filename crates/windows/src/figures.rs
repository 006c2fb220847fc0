//! Times, tokens and costs as people read them, in lists, windows and summaries.

use std::time::Duration;

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

/// Writes a number of tokens: `812`, `4.5k`, `120k`, `1.2M`.
pub fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Writes dollars; what costs nothing, or nobody knows how much, needs no room.
pub fn cost(dollars: Option<f64>) -> String {
    match dollars {
        Some(dollars) if dollars >= 0.005 => format!("${dollars:.2}"),
        Some(dollars) if dollars > 0.0 => "<$0.01".to_owned(),
        Some(_) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_at_every_size() {
        let clocks = [7, 185, 7_800, 360_000].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(clocks, ["7s", "3m 05s", "2h 10m", "4d 4h"]);
        let counts = [0, 812, 4_520, 120_900, 1_290_000].map(tokens);
        assert_eq!(counts, ["0", "812", "4.5k", "120k", "1.2M"]);
        let costs = [None, Some(0.0), Some(0.001), Some(1.237)].map(cost);
        assert_eq!(costs, ["", "", "<$0.01", "$1.24"]);
    }
}
