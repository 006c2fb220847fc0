//! Chooses the runs that are listed, and their order.

use std::cmp::Reverse;

use clap::ValueEnum;
use pi_subagents_vocabulary::{Dollars, Status, Timestamp};

use pi_subagents_runs::row::RunRow;

/// The order of a list of runs, named after what comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    /// The newest run
    Age,
    /// The most expensive run; where no price is known, the one with the most tokens
    Cost,
    /// The run that took longest
    Time,
    /// By name, from A to Z
    Name,
    /// Running and queued runs, then failed, stopped and completed ones
    Status,
}

/// The runs that are listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    /// This is true if runs that are over are listed too.
    pub(super) finished: bool,
    /// Runs that began before this are left out.
    pub(super) since: Option<Timestamp>,
    /// This is true if only failed runs are listed.
    pub(super) failed: bool,
    pub(super) sort: Sort,
}

impl Choice {
    /// Returns whether a run is counted at all.
    pub(super) fn counts(&self, row: &RunRow) -> bool {
        let is_recent = self
            .since
            .is_none_or(|since| row.report.accepted_at >= since);
        is_recent && (!self.failed || row.report.status == Status::Failed)
    }

    /// Returns whether a run that is or is not over is listed.
    pub(super) fn lists(&self, is_open: bool) -> bool {
        self.finished || is_open
    }

    /// Puts rows into order. They come in the order in which the runs began, and runs that are
    /// alike stay with the newest first.
    pub(super) fn sort<T>(&self, rows: &mut [T], row: impl Fn(&T) -> &RunRow, now: Timestamp) {
        rows.reverse();
        match self.sort {
            Sort::Age => {}
            Sort::Cost => rows.sort_by_key(|one| Reverse(cost(row(one)))),
            Sort::Time => rows.sort_by_key(|one| Reverse(row(one).lasted(now))),
            Sort::Name => rows.sort_by_key(|one| row(one).report.name.to_lowercase()),
            Sort::Status => rows.sort_by_key(|one| row(one).report.status.list_rank()),
        }
    }
}

fn cost(row: &RunRow) -> (Option<Dollars>, u64) {
    let usage = row.report.usage.unwrap_or_default();
    (usage.cost.map(Dollars::new), usage.total())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn row(name: &str, status: &str, hour: u32, further: &Value) -> RunRow {
        let mut row = json!({
            "runId": format!("r-{name}"), "sessionId": "s", "name": name, "status": status,
            "acceptedAt": format!("2026-11-16T{hour:02}:00:00Z"),
        });
        for (field, value) in further.as_object().into_iter().flatten() {
            row[field] = value.clone();
        }
        serde_json::from_value(row).expect("a row")
    }

    fn used(cost: Option<f64>, tokens: u64, ended_at: &str) -> Value {
        json!({
            "usage": {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0,
                "cost": cost},
            "endedAt": ended_at,
        })
    }

    /// Returns some runs in the order in which they began.
    fn rows() -> Vec<RunRow> {
        vec![
            row(
                "plan",
                "completed",
                6,
                &used(Some(0.5), 900, "2026-11-16T06:01:00Z"),
            ),
            row(
                "Cheap",
                "failed",
                7,
                &used(Some(0.01), 10, "2026-11-16T07:30:00Z"),
            ),
            row(
                "unpriced",
                "completed",
                8,
                &used(None, 5000, "2026-11-16T08:00:01Z"),
            ),
            row("halted", "stopped", 9, &json!({})),
            row("next", "queued", 10, &json!({})),
            row("busy", "running", 11, &json!({})),
        ]
    }

    fn listed(choice: Choice) -> String {
        let mut rows = rows();
        rows.retain(|row| choice.counts(row) && choice.lists(!row.is_over()));
        choice.sort(&mut rows, |row| row, at(NOW));
        let names: Vec<&str> = rows.iter().map(|row| row.report.name.as_str()).collect();
        names.join(" ")
    }

    const ALL: Choice = Choice {
        finished: true,
        since: None,
        failed: false,
        sort: Sort::Age,
    };

    #[test]
    fn every_order_has_a_first() {
        for (sort, expected) in [
            (Sort::Age, "busy next halted unpriced Cheap plan"),
            (Sort::Cost, "plan Cheap unpriced busy next halted"),
            (Sort::Time, "next busy Cheap plan unpriced halted"),
            (Sort::Name, "busy Cheap halted next plan unpriced"),
            (Sort::Status, "busy next Cheap halted unpriced plan"),
        ] {
            assert_eq!(listed(Choice { sort, ..ALL }), expected, "{sort:?}");
        }
    }

    #[test]
    fn filters_go_together() {
        let running = Choice {
            finished: false,
            ..ALL
        };
        assert_eq!(listed(running), "busy next");
        let since = Choice {
            since: Some(at("2026-11-16T08:00:00Z")),
            ..ALL
        };
        assert_eq!(listed(since), "busy next halted unpriced");
        let failed = Choice {
            failed: true,
            ..ALL
        };
        assert_eq!(listed(failed), "Cheap");
        let neither = Choice {
            failed: true,
            ..since
        };
        assert_eq!(listed(neither), "");
    }
}
