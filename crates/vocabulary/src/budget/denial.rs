//! The reason why a budget gives a run nothing more.

use std::fmt;

use super::BudgetScope;
use crate::Dollars;

/// Too little of a budget is left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BudgetDenial {
    /// The scope.
    pub scope: BudgetScope,
    /// What is used of its limit.
    pub used: UsedLimit,
    /// True if running runs hold the rest, and may return some of it.
    pub is_held: bool,
}

/// A limit of a budget, with what is used of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedLimit {
    /// Money.
    Cost {
        /// What was spent.
        spent: Dollars,
        /// What may be spent.
        limit: Dollars,
    },
    /// Tokens that count.
    Tokens {
        /// What was spent.
        spent: u64,
        /// What may be spent.
        limit: u64,
    },
    /// Runs that started.
    Runs {
        /// What has started.
        spent: u64,
        /// What may start.
        limit: u64,
    },
    /// Seconds since the first start.
    Seconds {
        /// The seconds that are gone.
        spent: u64,
        /// The seconds that there are.
        limit: u64,
    },
}

impl BudgetDenial {
    /// Returns half as much again as the limit is.
    pub fn half_more(&self) -> MoreBudget {
        let half = |limit: u64, least: u64| (limit / 2).max(least);
        match self.used {
            UsedLimit::Cost { limit, .. } => {
                let more = half(limit.millionths(), 1_000_000);
                MoreBudget::Cost(Dollars::from_millionths(more))
            }
            UsedLimit::Tokens { limit, .. } => MoreBudget::Tokens(half(limit, 100_000)),
            UsedLimit::Runs { limit, .. } => MoreBudget::Runs(half(limit, 1)),
            UsedLimit::Seconds { limit, .. } => MoreBudget::Seconds(half(limit, 60)),
        }
    }
}

/// What a budget gets beside its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoreBudget {
    /// Money.
    Cost(Dollars),
    /// Tokens that count.
    Tokens(u64),
    /// Runs that may start.
    Runs(u64),
    /// Seconds.
    Seconds(u64),
}

/// `$1.00 more`.
impl fmt::Display for MoreBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost(more) => write!(f, "{more} more"),
            Self::Tokens(more) => write!(f, "{more} tokens more"),
            Self::Runs(more) => write!(f, "{more} runs more"),
            Self::Seconds(more) => write!(f, "{more} s more"),
        }
    }
}

impl fmt::Display for BudgetDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scope,
            used,
            is_held,
        } = self;
        if *is_held {
            write!(
                f,
                "{scope} has nothing left to give ({used} used, the rest is granted to running runs)"
            )
        } else {
            write!(f, "{scope} is used up ({used})")
        }
    }
}

/// `$2.00 of $2.00`.
impl fmt::Display for UsedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost { spent, limit } => write!(f, "{spent} of {limit}"),
            Self::Tokens { spent, limit } => write!(f, "{spent} of {limit} tokens"),
            Self::Runs { spent, limit } => write!(f, "{spent} of {limit} runs"),
            Self::Seconds { spent, limit } => write!(f, "{spent} of {limit} s"),
        }
    }
}
