//! Chooses the runs that are listed, and their order.

use std::cmp::Reverse;
use std::time::Duration;

use clap::ValueEnum;
use pi_subagents_records::{FinishedRun, SurveyDepth, Used};
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

/// The facts about a run by which it is chosen and put into its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListFacts<'a> {
    pub(super) name: &'a str,
    pub(super) status: Status,
    pub(super) accepted_at: Timestamp,
    /// The time from its beginning to its end or to now, if it is known.
    pub(super) lasted: Option<Duration>,
    pub(super) used: Used,
}

impl<'a> ListFacts<'a> {
    pub(super) fn of_row(row: &'a RunRow, now: Timestamp) -> Self {
        Self {
            name: &row.report.name,
            status: row.report.status,
            accepted_at: row.report.accepted_at,
            lasted: row.lasted(now),
            used: Used {
                calls: row.report.tool_calls.unwrap_or_default(),
                usage: row.report.usage.unwrap_or_default(),
            },
        }
    }

    pub(super) fn of_finished(run: &'a FinishedRun) -> Self {
        let lasted = run.ended_at.duration_since(run.accepted_at);
        Self {
            name: &run.name,
            status: run.status,
            accepted_at: run.accepted_at,
            lasted: Some(Duration::try_from(lasted).unwrap_or_default()),
            used: run.used.unwrap_or_default(),
        }
    }
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
    /// Returns what must be known of the finished runs.
    pub(super) fn depth(&self) -> SurveyDepth {
        if self.finished {
            SurveyDepth::Facts
        } else {
            SurveyDepth::Counts
        }
    }

    /// Returns whether a run is counted at all.
    pub(super) fn counts(&self, run: &ListFacts<'_>) -> bool {
        let is_recent = self.since.is_none_or(|since| run.accepted_at >= since);
        is_recent && (!self.failed || run.status == Status::Failed)
    }

    /// Puts runs into order. They come in the order in which they began, and runs that are alike
    /// stay with the newest first.
    pub(super) fn sort<'a, T: Copy>(&self, runs: &mut [T], facts: impl Fn(T) -> ListFacts<'a>) {
        runs.reverse();
        match self.sort {
            Sort::Age => {}
            Sort::Cost => runs.sort_by_cached_key(|run| Reverse(cost(&facts(*run)))),
            Sort::Time => runs.sort_by_key(|run| Reverse(facts(*run).lasted)),
            Sort::Name => runs.sort_by_cached_key(|run| facts(*run).name.to_lowercase()),
            Sort::Status => runs.sort_by_key(|run| facts(*run).status.list_rank()),
        }
    }
}

fn cost(run: &ListFacts<'_>) -> (Option<Dollars>, u64) {
    let usage = run.used.usage;
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
        let rows = rows();
        let mut listed: Vec<&RunRow> = rows.iter().collect();
        let facts = |row| ListFacts::of_row(row, at(NOW));
        listed.retain(|row| choice.counts(&facts(row)) && (choice.finished || !row.is_over()));
        choice.sort(&mut listed, facts);
        let names: Vec<&str> = listed.iter().map(|row| row.report.name.as_str()).collect();
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
