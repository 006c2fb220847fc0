//! What is counted: money and tokens, by the same rules.

use super::UsedLimit;
use crate::{Allowance, Dollars, Usage};

/// One of the two amounts that are granted. Amounts of money are millionths of a dollar here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Dollars.
    Cost,
    /// Tokens sent, received and written to a cache.
    Tokens,
}

impl Measure {
    /// Both measures.
    pub const ALL: [Self; 2] = [Self::Cost, Self::Tokens];

    /// Returns how much of it a usage is. An unknown price counts nothing.
    pub fn of(self, usage: &Usage) -> u64 {
        match self {
            Self::Cost => usage.cost.map_or(0, |cost| Dollars::new(cost).millionths()),
            Self::Tokens => usage.counted(),
        }
    }

    /// Returns its limit, if it is limited.
    pub fn limit(self, allowance: &Allowance) -> Option<u64> {
        match self {
            Self::Cost => allowance.cost.map(Dollars::millionths),
            Self::Tokens => allowance.tokens,
        }
    }

    /// Sets its limit.
    pub fn set(self, allowance: &mut Allowance, limit: Option<u64>) {
        match self {
            Self::Cost => allowance.cost = limit.map(Dollars::from_millionths),
            Self::Tokens => allowance.tokens = limit,
        }
    }

    /// Returns the least that a run is started with: 5 cents, or 20,000 tokens.
    pub fn least(self) -> u64 {
        match self {
            Self::Cost => 50_000,
            Self::Tokens => 20_000,
        }
    }

    /// Returns the part of a grant that is kept for the last answer: a tenth, at least a cent or
    /// 4,000 tokens, and never more than half.
    pub fn reserve(self, grant: u64) -> u64 {
        let least = match self {
            Self::Cost => 10_000,
            Self::Tokens => 4_000,
        };
        (grant / 10).max(least).min(grant / 2)
    }

    /// Returns whether a usage has reached four fifths of its limit.
    pub fn is_near(self, allowance: &Allowance, usage: &Usage) -> bool {
        let limit = self.limit(allowance);
        // Four fifths, without an overflow for absurd limits.
        limit.is_some_and(|limit| self.of(usage) >= limit - limit / 5)
    }

    /// Returns whether a usage is more than a fifth above its limit.
    pub fn is_passed(self, allowance: &Allowance, usage: &Usage) -> bool {
        let limit = self.limit(allowance);
        limit.is_some_and(|limit| self.of(usage) > limit.saturating_add(limit / 5))
    }

    /// Returns its limit, with what a usage has used of it.
    pub fn used(self, usage: &Usage, limit: u64) -> UsedLimit {
        let spent = self.of(usage);
        match self {
            Self::Cost => UsedLimit::Cost {
                spent: Dollars::from_millionths(spent),
                limit: Dollars::from_millionths(limit),
            },
            Self::Tokens => UsedLimit::Tokens { spent, limit },
        }
    }
}
