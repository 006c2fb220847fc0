//! The limits of what a run may consume.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Percent, Usage, WindowLength};

/// The largest amounts that a run may consume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Allowance {
    /// Tokens sent, received and written to a cache, if they are limited. Tokens read from a cache
    /// are not counted: a long conversation sends them again with every answer.
    pub tokens: Option<u64>,
    /// The cost of these tokens, if it is limited.
    pub cost: Option<Dollars>,
}

impl Allowance {
    /// Returns these limits. A limit that is not set here is taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.or(other.tokens),
            cost: self.cost.or(other.cost),
        }
    }

    /// Returns the lower of the limits of both.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        Self {
            tokens: lower(self.tokens, other.tokens),
            cost: lower(self.cost, other.cost),
        }
    }

    /// Returns the limit that a usage has reached, if any. Only the known part of the cost counts:
    /// an unknown price reaches no limit.
    pub fn exceeded_by(&self, usage: &Usage) -> Option<Excess> {
        let spent = usage.cost.map(Dollars::new);
        if let (Some(allowed), Some(spent)) = (self.cost, spent)
            && spent >= allowed
        {
            return Some(Excess::Cost { spent, allowed });
        }
        let (allowed, spent) = (self.tokens?, usage.counted());
        (spent >= allowed).then_some(Excess::Tokens { spent, allowed })
    }
}

/// Returns the lower of two limits, or the only one.
pub(crate) fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The limit that a run has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Excess {
    /// The number of tokens.
    #[serde(rename = "outOfTokens")]
    Tokens {
        /// The number of tokens that the run consumed.
        spent: u64,
        /// The number of tokens that it was allowed.
        allowed: u64,
    },
    /// The cost of the tokens.
    #[serde(rename = "outOfMoney")]
    Cost {
        /// The cost of the run.
        spent: Dollars,
        /// The cost that it was allowed.
        allowed: Dollars,
    },
    /// The share of a window of the provider.
    #[serde(rename = "outOfWindow")]
    Window {
        /// The length of the window in minutes.
        minutes: WindowLength,
        /// The part of it that is used, in percent, by whomever.
        spent: Percent,
        /// The part of it that runs may use, in percent.
        allowed: Percent,
    },
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { spent, allowed } => write!(f, "{spent} of at most {allowed} tokens"),
            Self::Cost { spent, allowed } => write!(f, "{spent} of at most {allowed}"),
            Self::Window {
                minutes,
                spent,
                allowed,
            } => write!(
                f,
                "{spent} of the {minutes} of the provider, of which runs may use {allowed}"
            ),
        }
    }
}

/// Money, exact to a millionth of a dollar. In JSON it is a number of dollars.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "f64", into = "f64")]
pub struct Dollars {
    millionths: u64,
}

impl Dollars {
    /// Makes an amount, rounded to the nearest millionth. A negative number becomes 0.
    pub fn new(dollars: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast from a float saturates"
        )]
        let millionths = (dollars * 1e6).round() as u64;
        Self { millionths }
    }

    /// Makes an amount out of millionths of a dollar.
    pub fn from_millionths(millionths: u64) -> Self {
        Self { millionths }
    }

    /// Returns the amount in millionths of a dollar.
    pub fn millionths(self) -> u64 {
        self.millionths
    }

    /// Returns the amount as a number.
    pub fn amount(self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "exact up to nine billion dollars"
        )]
        let millionths = self.millionths as f64;
        millionths / 1e6
    }
}

impl From<f64> for Dollars {
    fn from(dollars: f64) -> Self {
        Self::new(dollars)
    }
}

impl From<Dollars> for f64 {
    fn from(dollars: Dollars) -> Self {
        dollars.amount()
    }
}

/// `$2.00`, and more digits where it is less than a cent.
impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if (1..10_000).contains(&self.millionths) {
            6
        } else {
            2
        };
        write!(f, "${:.digits$}", self.amount())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn excess(tokens: Option<u64>, cost: Option<f64>, used: u64, spent: Option<f64>) -> String {
        let allowance = Allowance {
            tokens,
            cost: cost.map(Dollars::new),
        };
        let usage = Usage {
            input: used,
            cost: spent,
            ..Usage::default()
        };
        let excess = allowance.exceeded_by(&usage);
        excess.map(|excess| excess.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_used_up_is_named_with_its_limit() {
        assert_eq!(excess(None, None, 9_000_000, Some(99.0)), "");
        assert_eq!(excess(Some(100), None, 99, None), "");
        assert_eq!(
            excess(Some(100), None, 100, None),
            "100 of at most 100 tokens"
        );
        assert_eq!(excess(None, Some(2.0), 1, Some(1.999_999)), "");
        assert_eq!(
            excess(None, Some(2.0), 1, Some(2.134)),
            "$2.13 of at most $2.00"
        );
        assert_eq!(
            excess(None, Some(0.001), 1, Some(0.0042)),
            "$0.004200 of at most $0.001000"
        );
    }

    #[test]
    fn a_price_that_is_not_known_uses_up_nothing() {
        assert_eq!(excess(None, Some(0.01), 9_000_000, None), "");
        assert_eq!(
            excess(Some(5), Some(0.01), 6, None),
            "6 of at most 5 tokens"
        );
    }
}
