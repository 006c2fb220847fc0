//! Fetches what a run of a fleet has changed into the repositories that it began from. The checkout
//! is not touched.

use std::path::Path;

use pi_subagents_delegation::RunId;
use pi_subagents_delegation::text::count;
use pi_subagents_fleet::Fleet;
use pi_subagents_fleet::wire::ResultName;
use pi_subagents_workspaces::{
    ObjectId, Pins, Repository, WorkspaceError, changes, large_files_of, receive_result,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::large_files::fetch_large_files;

/// A larger result is not fetched by itself.
const LARGEST_RESULT: u64 = 10_000_000_000;

/// Fetches the result of a run, and describes its changes: `3 files +40 −12; not merged (…)`.
pub(super) async fn fetch_result(
    fleet: &Fleet,
    run: &RunId,
    cwd: &Path,
    result: &ResultName,
) -> Result<String, String> {
    let changed = fetch(fleet, run, cwd, result).await?;
    Ok(format!("{changed}; not merged (pi-subagents merge {run})"))
}

/// Fetches the result that a run left in a submodule, and says how to look at it.
pub(super) async fn fetch_submodule(
    fleet: &Fleet,
    run: &RunId,
    (cwd, path): (&Path, &str),
    result: &ResultName,
) -> Result<String, String> {
    let project = cwd.to_owned();
    let top = on_thread(move || Ok(Repository::find(&project)?.top().to_owned())).await?;
    let changed = fetch(fleet, run, &top.join(path), result).await?;
    let refs = format!("refs/pi-subagents/runs/{run}");
    Ok(format!(
        "{changed} in the submodule {path}; not merged (git -C {path} diff {refs}/base {refs}/result)"
    ))
}

async fn fetch(
    fleet: &Fleet,
    run: &RunId,
    directory: &Path,
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
    let (run, directory) = (run.to_string(), directory.to_owned());
    let (repository, changed) = on_thread(move || {
        let repository = Repository::find(&directory)?;
        let pins = receive_result(&repository, &run, &head, &file)?;
        let changed = described(&repository, &pins);
        Ok((repository, changed))
    })
    .await?;
    fetch_large_files(fleet, &result.lfs, &large_files_of(&repository)).await?;
    Ok(changed)
}

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, String> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn described(repository: &Repository, pins: &Pins) -> String {
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
    format!("{} +{added} −{removed}", count(changed.len(), "file"))
}
