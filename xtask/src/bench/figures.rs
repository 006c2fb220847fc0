//! Times, sizes and rows of the table.

use std::time::{Duration, Instant};

use crate::Outcome;

/// The durations of several runs of the same thing, in the order of the runs.
pub(super) struct Times(Vec<Duration>);

impl Times {
    /// Does something several times.
    pub(super) fn of(count: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<Self> {
        let mut times = Self(Vec::new());
        for _ in 0..count {
            times.add(&mut work)?;
        }
        Ok(times)
    }

    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// Does something once more.
    pub(super) fn add(&mut self, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
        let begun = Instant::now();
        work()?;
        self.push(begun.elapsed());
        Ok(())
    }

    /// Adds a time that was measured elsewhere.
    pub(super) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// Returns the run that was disturbed least.
    pub(super) fn best(&self) -> Duration {
        self.0.iter().min().copied().unwrap_or_default()
    }

    pub(super) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// Returns how many times as long as the others these runs took. It is the median of the ratios
    /// of neighbouring runs, because a machine that is busy for a while disturbs neighbours alike.
    pub(super) fn beside(&self, others: &Self) -> f64 {
        let pairs = self.0.iter().zip(&others.0);
        let mut ratios: Vec<f64> = pairs
            .map(|(this, other)| this.as_secs_f64() / other.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
    }

    /// Formats the runs as `12.3 ms best, 13.0 ms median of 5`.
    pub(super) fn text(&self) -> String {
        let (best, median) = (milliseconds(self.best()), milliseconds(self.median()));
        format!("{best} best, {median} median of {}", self.0.len())
    }
}

/// Formats a ratio: `+3.1 %` for something that takes 1.031 times as long.
pub(super) fn over(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

pub(super) fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints a row. The figure is compared with the budget, if there is one.
pub(super) fn row(name: &str, figure: &str, budget: &str) {
    let budget = if budget.is_empty() {
        String::new()
    } else {
        format!("  (budget {budget})")
    };
    println!("  {name:44} {figure}{budget}");
}

pub(super) fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", milliseconds_of(duration))
}

pub(super) fn milliseconds_of(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

pub(super) fn megabytes(kilobytes: u64) -> String {
    format!("{:.1} MB", megabytes_of(kilobytes))
}

pub(super) fn megabytes_of(kilobytes: u64) -> f64 {
    as_float(kilobytes) * 1.024 / 1000.0
}

/// Counts here stay far below what a float holds exactly.
#[expect(
    clippy::cast_precision_loss,
    reason = "a figure for people needs four digits"
)]
pub(super) fn as_float(count: u64) -> f64 {
    count as f64
}
