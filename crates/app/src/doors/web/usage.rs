//! Tokens and costs of runs, added up as `status` adds them up: by day, model, definition and
//! caller.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use pi_subagents_delegation::{RunId, RunSummary, TimeZone};
use pi_subagents_sessions::{IndexedRun, RecordedRun, read_events};
use serde_json::{Value, json};

use crate::runs::row::{RowTotals, RunRow};

/// The models of finished runs, which are in their records alone.
#[derive(Default)]
pub(super) struct KnownModels(Mutex<HashMap<RunId, Option<String>>>);

/// Adds up the usage of runs.
pub(super) fn usage<'a>(
    runs: impl Iterator<Item = &'a IndexedRun>,
    models: &KnownModels,
    zone: &TimeZone,
) -> Value {
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
    let model = |run: &IndexedRun, row: &RunRow| models.of(run, row);
    let definition = |run: &IndexedRun, _: &RunRow| run.preset.clone().unwrap_or_default();
    let project = |run: &IndexedRun, _: &RunRow| run.project.display().to_string();
    json!({
        "totals": RowTotals::of(rows.iter().map(|(_, row)| row)),
        "days": by(&rows, day),
        "models": by(&rows, model),
        "definitions": by(&rows, definition),
        "callers": by(&rows, |run, _| caller(run).to_owned()),
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

fn caller(run: &IndexedRun) -> &'static str {
    match &run.owner.detached {
        Some(detached) if detached.pi_session.is_some() => "pi, in the background",
        Some(_) => "in the background",
        None => "waited for",
    }
}

impl KnownModels {
    /// Returns the model of a run, or an empty text if it is unknown.
    fn of(&self, run: &IndexedRun, row: &RunRow) -> String {
        if run.is_open() {
            return row.resolved_model.clone().unwrap_or_default();
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let model = known.entry(run.run.clone()).or_insert_with(|| {
            let record = RecordedRun::read(&run.directory).ok()?;
            record.end.and_then(|end| end.model).or(record.model)
        });
        model.clone().unwrap_or_default()
    }
}

fn summary_of(run: &IndexedRun) -> RunSummary {
    let mut summary = RunSummary::without_text();
    // A record that cannot be read is not counted.
    _ = read_events(&run.directory, |event| summary.apply(event));
    summary
}
