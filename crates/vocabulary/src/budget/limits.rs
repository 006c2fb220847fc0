//! The limits of a budget.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allowance::lower;
use crate::{Allowance, Dollars, seconds};

/// The largest amounts that the runs of a scope may consume together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Tokens sent, received and written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The number of runs that may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Seconds from the start of its first run.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub seconds: Option<Duration>,
}

impl From<Allowance> for BudgetLimits {
    fn from(allowance: Allowance) -> Self {
        Self {
            cost: allowance.cost,
            tokens: allowance.tokens,
            ..Self::default()
        }
    }
}

impl BudgetLimits {
    /// Returns whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the lower of the limits of both.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        Self {
            cost: lower(self.cost, other.cost),
            tokens: lower(self.tokens, other.tokens),
            runs: lower(self.runs, other.runs),
            seconds: lower(self.seconds, other.seconds),
        }
    }

    /// Returns these limits, where `other` is higher the higher one. What is not limited stays so.
    #[must_use]
    pub fn raised(self, other: Self) -> Self {
        Self {
            cost: self
                .cost
                .map(|limit| other.cost.unwrap_or(limit).max(limit)),
            tokens: self
                .tokens
                .map(|limit| other.tokens.unwrap_or(limit).max(limit)),
            runs: self
                .runs
                .map(|limit| other.runs.unwrap_or(limit).max(limit)),
            seconds: self
                .seconds
                .map(|limit| other.seconds.unwrap_or(limit).max(limit)),
        }
    }

    /// Returns the limits of what is paid for.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            tokens: self.tokens,
            cost: self.cost,
        }
    }
}
