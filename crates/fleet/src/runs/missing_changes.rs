//! Fetches the changes of a run that the checkout of a command lacks: somebody asked for the run on
//! another machine, or the fleet could not be reached when it ended.

use std::path::Path;
use std::time::Duration;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_fleet_queue::{Fleet, FleetError};
use pi_subagents_git::{Pins, Repository};
use pi_subagents_records::{IndexedRun, RecordedRun};

use super::connection::{connect, settings_of_user};
use super::elsewhere::is_from_elsewhere;
use super::own_thread::wait_for;
use super::results::{FetchedRun, fetch_changes};
use super::words::not_come;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::workspace::Workspace;

/// The time for which this may hold up a command.
const PATIENCE: Duration = Duration::from_mins(2);

/// The same if only earlier runs of a conversation may have changes there. Mostly they have none.
const SHORT_PATIENCE: Duration = Duration::from_secs(10);

/// Fetches the changes of some runs into the checkout of this command, as far as a fleet has them
/// and no checkout of this machine does. Returns why some could not be fetched.
pub(crate) fn fetch_missing(places: &Places, runs: &[IndexedRun]) -> Result<(), String> {
    let settings = settings_of_user(places);
    let missing = runs.iter().filter(|run| is_missing(places, run));
    let missing: Vec<&IndexedRun> = missing.collect();
    let is_possible = settings.is_configured() && Repository::find(&places.cwd).is_ok();
    if missing.is_empty() || !is_possible {
        return Ok(());
    }
    let is_latest_missing = missing.last().map(|run| &run.run) == runs.last().map(|run| &run.run);
    let patience = if is_latest_missing {
        PATIENCE
    } else {
        SHORT_PATIENCE
    };
    let fetched = wait_for(patience, fetch_all(&settings, places, &missing));
    fetched.unwrap_or_else(|why| Err(not_fetched(&why)))
}

/// Returns whether the changes of a run may be in its fleet and nowhere here.
fn is_missing(places: &Places, run: &IndexedRun) -> bool {
    if run.owner.fleet.is_none() || run.is_open() {
        return false;
    }
    let known = Workspace::read(run.directory.path());
    if known.is_some_and(|workspace| !workspace.is_unmerged()) {
        // Somebody has merged or discarded them.
        return false;
    }
    let recorded = RecordedRun::read(&run.directory).ok();
    let recorded = recorded.map(|recorded| recorded.task.cwd.clone());
    !has_changes(&places.cwd, run) && !recorded.is_some_and(|cwd| has_changes(&cwd, run))
}

/// Fetches the changes of runs, the latest first. Returns the first reason why some did not come.
async fn fetch_all(
    settings: &FleetSettings,
    places: &Places,
    runs: &[&IndexedRun],
) -> Result<Result<(), String>, String> {
    let fleet = connect(settings, places).await;
    let fleet = fleet.map_err(|error| error.sentence())?;
    let mut fetched = Ok(());
    for run in runs.iter().rev() {
        let one = fetch(&fleet, places, run).await;
        fetched = fetched.and(one);
    }
    fleet.close().await;
    Ok(fetched)
}

async fn fetch(fleet: &Fleet, places: &Places, run: &IndexedRun) -> Result<(), String> {
    let failed = |error: FleetError| not_fetched(&error.to_string());
    let entry = fleet.entry(&run.run).await.map_err(failed)?;
    let Some(RunEntry::Ended(ended)) = entry.map(|stored| stored.value) else {
        return Err(not_fetched("the fleet does not know the run any more"));
    };
    let ended = fleet.with_late_changes(&run.run, *ended).await;
    let ended = ended.map_err(failed)?;
    if let Some(unsent) = &ended.unsent {
        return Err(not_come(&run.run, &ended.worker, unsent));
    }
    let card = if is_from_elsewhere(&run.owner) {
        let card = fleet.card(&run.run).await;
        Some(card.map_err(failed)?.unwrap_or_default())
    } else {
        None
    };
    let fetched = FetchedRun {
        run: &run.run,
        directory: &run.directory,
        cwd: &places.cwd,
        card: card.as_ref(),
    };
    let fetched = fetch_changes(fleet, fetched, &ended).await;
    fetched
        .into_iter()
        .find_map(Result::err)
        .map_or(Ok(()), Err)
}

fn not_fetched(why: &str) -> String {
    format!("what it changed could not be fetched: {why}")
}

/// Returns whether the repository of a directory has the changes of a run.
fn has_changes(directory: &Path, run: &IndexedRun) -> bool {
    let repository = Repository::find(directory).ok();
    let pins = repository.and_then(|found| Pins::read(&found, run.run.as_str()).ok());
    pins.is_some_and(|pins| pins.base.is_some() && pins.result.is_some())
}
