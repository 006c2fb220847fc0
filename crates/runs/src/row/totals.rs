//! Adds up the usage of several runs.

use pi_subagents_vocabulary::{Cost, Usage};
use serde::Serialize;

use super::{RowUsage, RunRow};

/// The sums over several runs, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RowTotals {
    pub runs: usize,
    pub tool_calls: usize,
    pub usage: RowUsage,
    /// The cost for people; JSON has a cost only if all prices are known.
    #[serde(skip)]
    pub cost: Cost,
}

impl RowTotals {
    /// Adds up the usage of these runs.
    pub fn of<'a>(rows: impl Iterator<Item = &'a RunRow> + Clone) -> Self {
        let usages = rows.clone().filter_map(|row| row.end.usage);
        let usages = usages.map(Usage::from);
        let usage: Usage = usages.clone().sum();
        Self {
            runs: rows.clone().count(),
            tool_calls: rows.filter_map(|row| row.end.tool_calls).sum(),
            usage: usage.into(),
            cost: Cost::of_all(usages),
        }
    }

    /// Adds the sums over other runs.
    pub fn plus(self, other: Self) -> Self {
        let usage: Usage = [self.usage, other.usage].into_iter().map(Usage::from).sum();
        Self {
            runs: self.runs + other.runs,
            tool_calls: self.tool_calls + other.tool_calls,
            usage: usage.into(),
            cost: self.cost_with(other),
        }
    }

    /// Returns the known part of the cost, if the prices of some runs are unknown.
    pub fn at_least(&self) -> Option<f64> {
        match self.cost {
            Cost::AtLeast(dollars) => Some(dollars),
            Cost::Known(_) | Cost::Unknown => None,
        }
    }

    /// Adds the costs. Runs without tokens have no price and need none.
    fn cost_with(self, other: Self) -> Cost {
        use Cost::{AtLeast, Known, Unknown};
        if self.usage.total_tokens == 0 {
            return other.cost;
        }
        if other.usage.total_tokens == 0 {
            return self.cost;
        }
        match (self.cost, other.cost) {
            (Known(one), Known(two)) => Known(one + two),
            (Unknown, Unknown) => Unknown,
            (Unknown, Known(some) | AtLeast(some)) | (Known(some) | AtLeast(some), Unknown) => {
                AtLeast(some)
            }
            (Known(one) | AtLeast(one), Known(two) | AtLeast(two)) => AtLeast(one + two),
        }
    }
}
