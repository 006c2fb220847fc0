//! Chance that can be repeated: the same seed gives the same numbers on every machine.

use std::time::Duration;

/// A stream of numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Makes the stream of one round, which shares no numbers with other rounds.
    pub fn of_round(seed: u64, round: u64) -> Self {
        // Streams that begin a few steps apart would go over the same numbers, so the beginning of
        // each stream is drawn by chance too.
        let of_seed = Self(seed).next();
        Self(of_seed ^ Self(!round).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Draws a number from `least` to `most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// Returns true `percent` times in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Draws a time up to `most` milliseconds; half of all are in its first tenth, where things
    /// begin.
    pub fn moment(&mut self, most: u64) -> Duration {
        let most = if self.percent(50) { most / 10 } else { most };
        Duration::from_millis(self.between(0, most))
    }

    /// Draws one of some choices, with probabilities by their weights.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let all: u64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.between(1, all);
        for (weight, choice) in choices {
            if left <= *weight {
                return *choice;
            }
            left -= weight;
        }
        choices[0].1
    }
}
