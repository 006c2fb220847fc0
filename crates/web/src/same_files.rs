//! The files that several runs changed. A person learns of them before a merge does not fit.

use std::collections::BTreeMap;

use pi_subagents_records::IndexedRun;
use serde_json::{Value, json};

use crate::finished_runs::FinishedRuns;
use crate::index::SeenRuns;
use crate::rows::clean_name;

/// Returns the files of a run that other runs changed too, each with these runs: those of its own
/// call, and those of its project whose results wait to be merged.
pub(crate) fn same_files(
    run: &IndexedRun,
    files: &[String],
    call: &[IndexedRun],
    known: &SeenRuns,
    finished: &FinishedRuns,
) -> Value {
    let of_project = known
        .runs
        .iter()
        .filter(|other| other.project == run.project);
    let waiting = finished.waiting(of_project);
    let mut others: Vec<&IndexedRun> = call.iter().chain(waiting).collect();
    others.retain(|other| other.run != run.run);
    others.sort_by_key(|other| other.sequence);
    others.dedup_by_key(|other| other.sequence);
    let mut found: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for other in others {
        let row = finished.row(other);
        for path in files.iter().filter(|path| row.files.contains(path)) {
            let name = clean_name(&other.name);
            let same = found.entry(path).or_default();
            same.push(json!({"runId": other.run.as_str(), "name": name}));
        }
    }
    let found = found.into_iter();
    found
        .map(|(path, runs)| json!({"path": path, "runs": runs}))
        .collect()
}
