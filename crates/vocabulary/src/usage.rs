//! The tokens that a run consumed, and their cost.

use std::iter::Sum;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens and cost of one message, or of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens sent and not taken from a cache.
    pub input: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// The known part of the cost in dollars, or `None` when no price is known; unknown is never
    /// shown as 0.
    pub cost: Option<f64>,
    /// True if some prices are unknown, so that `cost` is only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cost_is_at_least: bool,
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
            cost_is_at_least: _,
        } = *self;
        [input, output, cache_read, cache_write]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns the number of tokens that limits count. Tokens read from a cache are left out,
    /// because every answer of a long conversation reads all of it again for a tenth of the price.
    pub fn counted(&self) -> u64 {
        self.total().saturating_sub(self.cache_read)
    }

    /// Returns the cost in the words of people: known, unknown, or at least so much.
    pub fn cost(&self) -> Cost {
        match self.cost {
            None => Cost::Unknown,
            Some(dollars) if self.cost_is_at_least => Cost::AtLeast(dollars),
            Some(dollars) => Cost::Known(dollars),
        }
    }

    /// Adds the costs. A part without tokens has no price and needs none.
    fn add_cost(&mut self, other: &Self) {
        if other.total() == 0 {
            return;
        }
        if self.total() == 0 {
            self.cost = other.cost;
            self.cost_is_at_least = other.cost_is_at_least;
            return;
        }
        let is_one_unknown = self.cost.is_some() != other.cost.is_some();
        self.cost_is_at_least |= other.cost_is_at_least || is_one_unknown;
        self.cost = match (self.cost, other.cost) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
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
        self.add_cost(&other);
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
    fn one_unknown_price_makes_the_sum_a_part_of_the_cost() {
        let mut sum = Usage::default();
        sum += usage(10, Some(0.5));
        sum += usage(0, None);
        assert_eq!(sum, usage(10, Some(0.5)));
        sum += usage(5, None);
        sum += usage(5, Some(1.0));
        let part = Usage {
            cost_is_at_least: true,
            ..usage(20, Some(1.5))
        };
        assert_eq!(sum, part);
        sum += usage(1, Some(0.5));
        assert_eq!(sum.cost(), Cost::AtLeast(2.0));
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
            let runs = runs.iter().map(|(tokens, cost)| usage(*tokens, *cost));
            runs.sum::<Usage>().cost()
        };
        assert_eq!(of_all(&[]), Cost::Unknown);
        assert_eq!(of_all(&[(5, None), (0, Some(0.0))]), Cost::Unknown);
        assert_eq!(of_all(&[(5, Some(0.5)), (0, None)]), Cost::Known(0.5));
        assert_eq!(
            of_all(&[(5, Some(0.5)), (5, None), (5, Some(1.0))]),
            Cost::AtLeast(1.5)
        );
    }

    #[test]
    fn a_usage_is_written_with_all_its_numbers_and_read_from_any() {
        let written = serde_json::to_value(usage(5, None)).unwrap();
        let numbers = serde_json::json!({
            "input": 5, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": null,
        });
        assert_eq!(written, numbers);
        let read: Usage = serde_json::from_str(r#"{"input":5}"#).unwrap();
        assert_eq!(read, usage(5, None));
    }
}
