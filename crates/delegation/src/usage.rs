//! How much a run consumed.

use std::iter::Sum;
use std::ops::AddAssign;

/// Tokens and cost of one message, or of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Tokens sent and not taken from a cache.
    pub input: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Dollars, or `None` when a price is unknown; unknown is never shown as 0.
    pub cost: Option<f64>,
}

impl Usage {
    /// Returns the number of all tokens together.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut total, part| {
            total += part;
            total
        })
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.cost = match (self.total(), self.cost, other.total(), other.cost) {
            (0, _, _, cost) | (_, cost, 0, _) => cost,
            (_, Some(mine), _, Some(theirs)) => Some(mine + theirs),
            (_, None, _, _) | (_, _, _, None) => None,
        };
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cost: Option<f64>) -> Usage {
        Usage {
            input,
            cost,
            ..Usage::default()
        }
    }

    #[test]
    fn one_unknown_price_makes_the_sum_unknown() {
        let mut sum = Usage::default();
        sum += usage(10, Some(0.5));
        sum += usage(0, None);
        assert_eq!(sum, usage(10, Some(0.5)));
        sum += usage(5, None);
        assert_eq!(sum, usage(15, None));
        sum += usage(5, Some(1.0));
        assert_eq!(sum, usage(20, None));
    }
}
