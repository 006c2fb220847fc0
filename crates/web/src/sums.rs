//! The sums over runs, as `status` counts them.

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{Status, Timestamp};
use serde_json::{Value, json};

use pi_subagents_runs::counts::Counts;
use pi_subagents_runs::find::status_of;
use pi_subagents_runs::row::{RowTotals, RunRow};

/// Runs by their states, and what they used.
pub(super) struct Sums {
    states: Vec<Status>,
    totals: RowTotals,
    today: RowTotals,
}

impl Sums {
    /// Adds up finished runs, one after the other: after some years there are very many.
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a IndexedRun>, today: Timestamp) -> Self {
        let nothing = RowTotals::of([].iter());
        let mut sums = Self {
            states: Vec::new(),
            totals: nothing,
            today: nothing,
        };
        for run in runs {
            sums.states.push(status_of(run));
            let one = RowTotals::of([RunRow::of_index(run)].iter());
            sums.totals = sums.totals.plus(one);
            if run.accepted_at >= today {
                sums.today = sums.today.plus(one);
            }
        }
        sums
    }

    /// Returns these sums with those of runs under way, as the page reads them.
    pub(super) fn with<'a>(
        &self,
        open: impl Iterator<Item = &'a RunRow> + Clone,
        today: Timestamp,
    ) -> Value {
        let states = open.clone().map(|row| row.status);
        let counts = Counts::of(states.chain(self.states.iter().copied()));
        let new = open.clone().filter(|row| row.accepted_at >= today);
        json!({
            "counts": counts.json_with_queued(),
            "totals": totals_json(self.totals.plus(RowTotals::of(open))),
            "today": totals_json(self.today.plus(RowTotals::of(new))),
        })
    }
}

/// Returns sums as the page reads them: those of `status --json`, and what they cost at least where
/// some prices are unknown, which `status` prints too.
pub(super) fn totals_json(totals: RowTotals) -> Value {
    let mut value = json!(totals);
    if let Some(dollars) = totals.at_least() {
        value["atLeast"] = json!(dollars);
    }
    value
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Cost;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn where_some_prices_are_unknown_the_known_part_is_told() {
        let told = |cost: Cost| {
            let totals = RowTotals {
                cost,
                ..RowTotals::of([].iter())
            };
            totals_json(totals)["atLeast"].clone()
        };
        assert_eq!(told(Cost::AtLeast(0.5)), json!(0.5));
        assert_eq!(told(Cost::Known(0.5)), Value::Null);
        assert_eq!(told(Cost::Unknown), Value::Null);
    }
}
