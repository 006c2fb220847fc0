//! Adds up the usage of several runs.

use pi_subagents_records::Used;
use pi_subagents_vocabulary::Usage;
use schemars::JsonSchema;
use serde::Serialize;

use super::RunRow;

/// The sums over several runs, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowTotals {
    /// The number of runs.
    pub runs: usize,
    /// The number of their tool calls.
    pub tool_calls: usize,
    /// Their tokens and their cost.
    pub usage: Usage,
}

impl RowTotals {
    /// Adds up the usage of these runs.
    pub fn of<'a>(rows: impl Iterator<Item = &'a RunRow>) -> Self {
        Self::of_figures(rows.map(|row| {
            let (calls, usage) = (row.report.tool_calls, row.report.usage);
            Used {
                calls: calls.unwrap_or_default(),
                usage: usage.unwrap_or_default(),
            }
        }))
    }

    /// Adds up the figures of runs.
    pub fn of_figures(figures: impl Iterator<Item = Used>) -> Self {
        figures.fold(Self::default(), |mut totals, used| {
            totals.runs += 1;
            totals.tool_calls += used.calls;
            totals.usage += used.usage;
            totals
        })
    }

    /// Adds the sums over other runs.
    pub fn plus(self, other: Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            tool_calls: self.tool_calls + other.tool_calls,
            usage: [self.usage, other.usage].into_iter().sum(),
        }
    }
}
