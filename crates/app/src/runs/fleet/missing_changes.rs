//! Fetches the changes of a run that the checkout of a command lacks: somebody asked for the run on
//! another machine, or the fleet could not be reached when it ended.

use std::path::Path;
use std::time::Duration;

use pi_subagents_definitions::FleetSettings;
use pi_subagents_fleet::wire::RunEntry;
use pi_subagents_sessions::{IndexedRun, RecordedRun};
use pi_subagents_workspaces::{Pins, Repository};

use super::connection::{connect, settings_of_user};
use super::elsewhere::is_from_elsewhere;
use super::own_thread::wait_for;
use super::results::{FetchedRun, fetch_changes};
use crate::places::Places;
use crate::runs::workspace::Workspace;

/// The time for which this may hold up a command.
const PATIENCE: Duration = Duration::from_mins(2);

/// Fetches the changes of the latest of some runs into the checkout of this command, if a fleet has
/// them and no checkout of this machine does. Returns why they could not be fetched.
pub(crate) fn fetch_missing(places: &Places, runs: &[IndexedRun]) -> Result<(), String> {
    let is_of_fleet = |run: &&IndexedRun| run.owner.fleet.is_some() && !run.is_open();
    let Some(run) = runs.last().filter(is_of_fleet) else {
        return Ok(());
    };
    let known = Workspace::read(run.directory.path());
    if known.is_some_and(|workspace| !workspace.is_unmerged()) {
        // Somebody has merged or discarded them.
        return Ok(());
    }
    let settings = settings_of_user(places);
    let recorded = RecordedRun::read(&run.directory).ok();
    let recorded = recorded.map(|recorded| recorded.task.cwd.clone());
    let is_here =
        has_changes(&places.cwd, run) || recorded.is_some_and(|cwd| has_changes(&cwd, run));
    if is_here || !settings.is_configured() || Repository::find(&places.cwd).is_err() {
        return Ok(());
    }
    let fetched = wait_for(PATIENCE, fetch(&settings, places, run));
    let failure = match fetched {
        Ok(fetched) => fetched.into_iter().find_map(Result::err),
        Err(why) => Some(format!("what it changed could not be fetched: {why}")),
    };
    failure.map_or(Ok(()), Err)
}

async fn fetch(
    settings: &FleetSettings,
    places: &Places,
    run: &IndexedRun,
) -> Result<Vec<Result<String, String>>, String> {
    let fleet = connect(settings, places).await;
    let fleet = fleet.map_err(|error| error.sentence())?;
    let entry = fleet.entry(&run.run).await;
    let entry = entry.map_err(|error| error.to_string())?;
    let Some(RunEntry::Ended(ended)) = entry.map(|stored| stored.value) else {
        return Err("the fleet does not know the run any more".to_owned());
    };
    let card = if is_from_elsewhere(&run.owner) {
        let card = fleet.card(&run.run).await;
        Some(card.map_err(|error| error.to_string())?.unwrap_or_default())
    } else {
        None
    };
    let fetched = FetchedRun {
        run: &run.run,
        directory: &run.directory,
        cwd: &places.cwd,
        card: card.as_ref(),
    };
    let fetched = fetch_changes(&fleet, fetched, &ended).await;
    fleet.close().await;
    Ok(fetched)
}

/// Returns whether the repository of a directory has the changes of a run.
fn has_changes(directory: &Path, run: &IndexedRun) -> bool {
    let repository = Repository::find(directory).ok();
    let pins = repository.and_then(|found| Pins::read(&found, run.run.as_str()).ok());
    pins.is_some_and(|pins| pins.base.is_some() && pins.result.is_some())
}
