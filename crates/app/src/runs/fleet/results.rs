//! Fetches what a run of a fleet has changed into the repository that it began from. The checkout
//! is not touched.

use std::path::Path;

use pi_subagents_delegation::RunId;
use pi_subagents_delegation::text::count;
use pi_subagents_fleet::Fleet;
use pi_subagents_fleet::wire::ResultName;
use pi_subagents_workspaces::{ObjectId, Pins, Repository, changes, receive_result};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// A larger result is not fetched by itself.
const LARGEST_RESULT: u64 = 10_000_000_000;

/// Fetches the result of a run, and says what it changed: `3 files +40 −12; not merged (…)`.
pub(super) async fn fetch_result(
    fleet: &Fleet,
    run: &RunId,
    cwd: &Path,
    result: &ResultName,
) -> Result<String, String> {
    let scratch = TempDir::new().map_err(|error| error.to_string())?;
    let file = scratch.path().join("result.bundle");
    let got = fleet
        .blobs()
        .get(&result.object, &file, LARGEST_RESULT)
        .await;
    got.map_err(|error| error.to_string())?;
    let head = ObjectId::parse(&result.head).ok_or("the fleet names no commit as its result")?;
    let (run, cwd) = (run.to_string(), cwd.to_owned());
    let fetched = spawn_blocking(move || {
        let repository = Repository::find(&cwd)?;
        let pins = receive_result(&repository, &run, &head, &file)?;
        Ok(described(&repository, &run, &pins))
    });
    match fetched.await {
        Ok(done) => {
            done.map_err(|error: pi_subagents_workspaces::WorkspaceError| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn described(repository: &Repository, run: &str, pins: &Pins) -> String {
    let changed = match (&pins.base, &pins.result) {
        (Some(base), Some(result)) => changes(repository, base, result).unwrap_or_default(),
        _ => Vec::new(),
    };
    let (added, removed) = changed
        .iter()
        .filter_map(|file| file.lines)
        .fold((0, 0), |(added, removed), (more, fewer)| {
            (added + more, removed + fewer)
        });
    format!(
        "{} +{added} −{removed}; not merged (pi-subagents merge {run})",
        count(changed.len(), "file")
    )
}
