//! The sums over runs, as `status` counts them.

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{Status, Timestamp};
use serde_json::{Value, json};

use pi_subagents_runs::find::status_of;
use pi_subagents_runs::row::{RowTotals, RunRow};
use pi_subagents_vocabulary::Counts;

/// Runs by their states, and what they used.
pub(super) struct Sums {
    states: Vec<Status>,
    totals: RowTotals,
    today: RowTotals,
}

impl Sums {
    /// Adds up finished runs, one after the other: after some years there are very many.
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a IndexedRun>, today: Timestamp) -> Self {
        let nothing = RowTotals::default();
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
        let states = open.clone().map(|row| row.report.status);
        let counts = Counts::of(states.chain(self.states.iter().copied()));
        let new = open.clone().filter(|row| row.report.accepted_at >= today);
        json!({
            "counts": counts,
            "totals": self.totals.plus(RowTotals::of(open)),
            "today": self.today.plus(RowTotals::of(new)),
        })
    }
}
