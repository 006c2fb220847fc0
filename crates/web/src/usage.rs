//! Tokens and costs of runs, added up as `status` adds them up: by day, model, agent and
//! caller.

use std::collections::BTreeMap;

use pi_subagents_records::{IndexedRun, read_events};
use pi_subagents_vocabulary::{RunSummary, TimeZone};
use serde_json::{Value, json};

use super::callers::caller_words;
use pi_subagents_runs::row::{RowTotals, RunRow};

/// Adds up the usage of runs.
pub(super) fn usage<'a>(runs: impl Iterator<Item = &'a IndexedRun>, zone: &TimeZone) -> Value {
    let rows: Vec<(&IndexedRun, RunRow)> = runs
        .map(|run| {
            let mut row = RunRow::of_index(run);
            if run.is_open() {
                row.take_progress(&summary_of(run));
            }
            (run, row)
        })
        .collect();
    let day = |run: &IndexedRun, _: &RunRow| {
        let day = run.accepted_at.to_zoned(zone.clone());
        day.strftime("%Y-%m-%d").to_string()
    };
    let definition = |run: &IndexedRun, _: &RunRow| run.preset.clone().unwrap_or_default();
    let project = |run: &IndexedRun, _: &RunRow| run.project.display().to_string();
    json!({
        "totals": RowTotals::of(rows.iter().map(|(_, row)| row)),
        "days": by(&rows, day),
        "models": by(&rows, model),
        "agents": by(&rows, definition),
        "callers": by(&rows, |run, _| caller_words(&run.owner)),
        "projects": by(&rows, project),
    })
}

fn by(rows: &[(&IndexedRun, RunRow)], key: impl Fn(&IndexedRun, &RunRow) -> String) -> Vec<Value> {
    let mut groups: BTreeMap<String, Vec<&RunRow>> = BTreeMap::new();
    for (run, row) in rows {
        groups.entry(key(run, row)).or_default().push(row);
    }
    let group = |(name, rows): (String, Vec<&RunRow>)| {
        let totals = RowTotals::of(rows.iter().copied());
        json!({"name": name, "totals": totals})
    };
    groups.into_iter().map(group).collect()
}

/// Returns the model of a run, or an empty text if it is unknown.
fn model(run: &IndexedRun, row: &RunRow) -> String {
    let model = if run.is_open() {
        row.report.full_model()
    } else {
        run.model.clone()
    };
    model.unwrap_or_default()
}

fn summary_of(run: &IndexedRun) -> RunSummary {
    let mut summary = RunSummary::without_text();
    // A record that cannot be read is not counted.
    _ = read_events(&run.directory, |event| summary.apply(event));
    summary
}
