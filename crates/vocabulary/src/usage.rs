//! The tokens that a run consumed, and their cost.

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
        let Self {
            input,
            output,
            cache_read,
            cache_write,
            cost: _,
        } = *self;
        [input, output, cache_read, cache_write]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// The cost of one run, or of several runs together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// No price is known.
    Unknown,
    /// All prices are known.
    Known(f64),
    /// Only some prices are known; the others come on top.
    AtLeast(f64),
}

impl Cost {
    /// Adds up the costs of several runs. A run without tokens has no price and needs none.
    pub fn of_all(runs: impl IntoIterator<Item = Usage>) -> Self {
        let runs = runs.into_iter().filter(|usage| usage.total() > 0);
        let (mut sum, mut known, mut unknown) = (0.0, 0, 0);
        for usage in runs {
            match usage.cost {
                Some(cost) => {
                    sum += cost;
                    known += 1;
                }
                None => unknown += 1,
            }
        }
        match (known, unknown) {
            (0, _) => Self::Unknown,
            (_, 0) => Self::Known(sum),
            (_, _) => Self::AtLeast(sum),
        }
    }
}

impl From<Option<f64>> for Cost {
    fn from(dollars: Option<f64>) -> Self {
        dollars.map_or(Self::Unknown, Self::Known)
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

/// Adds without overflow: a child can report any number, and none may end its owner.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.cost = match (self.total(), self.cost, other.total(), other.cost) {
            (0, _, _, cost) | (_, cost, 0, _) => cost,
            (_, Some(mine), _, Some(theirs)) => Some(mine + theirs),
            (_, None, _, _) | (_, _, _, None) => None,
        };
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
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

    #[test]
    fn absurd_counts_are_added_without_an_overflow() {
        let mut sum = usage(u64::MAX, None);
        sum += Usage {
            output: 7,
            ..usage(1, None)
        };
        assert_eq!(
            (sum.input, sum.output, sum.total()),
            (u64::MAX, 7, u64::MAX)
        );
    }

    #[test]
    fn runs_together_cost_at_least_what_is_known_of_them() {
        let of_all = |runs: &[(u64, Option<f64>)]| {
            Cost::of_all(runs.iter().map(|(tokens, cost)| usage(*tokens, *cost)))
        };
        assert_eq!(of_all(&[]), Cost::Unknown);
        assert_eq!(of_all(&[(5, None), (0, Some(0.0))]), Cost::Unknown);
        assert_eq!(of_all(&[(5, Some(0.5)), (0, None)]), Cost::Known(0.5));
        assert_eq!(
            of_all(&[(5, Some(0.5)), (5, None), (5, Some(1.0))]),
            Cost::AtLeast(1.5)
        );
    }
}
