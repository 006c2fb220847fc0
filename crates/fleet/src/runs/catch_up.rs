//! Catches up with runs of a fleet whose follower is gone: the fleet has their records, and the
//! command that looks at them copies the new bytes.

use std::thread;
use std::time::{Duration, Instant};

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::{Absence, Fleet, Turn};
use pi_subagents_records::{IndexedRun, OwnerName, RunDir, Store};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::connection::{address, connect, settings_of_user};
use super::elsewhere::is_from_elsewhere;
use super::fleet_run::FleetRun;
use super::follow::{Until, away_of, follow_until};
use super::record_copy::CopiedRecord;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::fleet_outage::Away;
use pi_subagents_runs::follow::process_gone;
use pi_subagents_runs::owner_process::is_left_in_fleet;

/// The time for which a fleet may hold up a command that looks at runs.
const PATIENCE: Duration = Duration::from_secs(8);

/// The pause before a run that another process follows is looked at again.
const AGAIN: Duration = Duration::from_secs(5);

/// The pause between two tries to reach servers that are away.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Copies the new bytes of open runs that no process follows.
pub(crate) fn catch_up(store: &Store, places: &Places, left: &[IndexedRun]) {
    let left: Vec<FleetRun> = left
        .iter()
        .map(|run| FleetRun {
            run: run.run.clone(),
            directory: run.directory.clone(),
            order: None,
            is_from_elsewhere: is_from_elsewhere(&run.owner),
        })
        .collect();
    let (store, places) = (store.clone(), places.clone());
    // It has a thread of its own, because the caller may be a thread of the runtime.
    let copying = thread::Builder::new().spawn(move || copy_once(store, &places, left));
    match copying {
        // If it panics, the runs stay as they are.
        Ok(copying) => _ = copying.join(),
        Err(error) => warn!(%error, "no thread could be started to follow runs"),
    }
}

/// Follows a run of a fleet to its end beside other work, once no other process does. The task
/// returns why the end was not seen, if it was not.
pub(crate) fn follow_in_fleet(
    places: &Places,
    directory: &RunDir,
    owner: &OwnerName,
) -> Option<JoinHandle<Option<String>>> {
    owner.fleet.as_ref()?;
    let run = FleetRun {
        run: directory.run()?,
        directory: directory.clone(),
        order: None,
        is_from_elsewhere: is_from_elsewhere(owner),
    };
    let runtime = Handle::try_current().ok()?;
    Some(runtime.spawn(follow_left(places.clone(), run, owner.clone())))
}

async fn follow_left(places: Places, run: FleetRun, owner: OwnerName) -> Option<String> {
    if !is_left_in_fleet(&owner) {
        process_gone(&owner).await;
    }
    let settings = settings_of_user(&places);
    let store = Store::new(&places.agent_dir);
    while !run.directory.result().exists() {
        let fleet = match reach(&settings, &places, &run).await {
            Ok(fleet) => fleet,
            Err(why) => return Some(why),
        };
        let until = Until::Over(settings.patience);
        let seen = follow_until(
            until,
            fleet.clone(),
            store.clone(),
            &places,
            vec![run.clone()],
            Vec::new(),
        );
        let seen = seen.await;
        fleet.close().await;
        match seen.first() {
            Some(summary) => return summary.unseen(),
            // Another process follows it, and may end before the run does.
            None => sleep(AGAIN).await,
        }
    }
    None
}

/// Connects to the fleet of a run, and waits for servers that are away. Fails with a sentence.
async fn reach(settings: &FleetSettings, places: &Places, run: &FleetRun) -> Result<Fleet, String> {
    let address = address(settings, None, places).map_err(|error| error.sentence())?;
    let mut absence = Absence::new(settings.patience);
    loop {
        match Fleet::connect(&address).await {
            Err(error) if error.is_passing() => debug!(%error, "fleet is tried again"),
            other => return other.map_err(|error| error.to_string()),
        }
        let turn = absence.note(Instant::now(), false);
        if let (Some(turn), Some(away)) = (turn, away_of(&absence)) {
            note_away(&run.directory, away);
            if turn == Turn::GivenUp {
                return Err(away.given_up(&run.run));
            }
        }
        sleep(TRY_AGAIN).await;
    }
}

/// Notes beside the record of a run that the servers are away. A process that follows the run knows
/// it better.
fn note_away(directory: &RunDir, away: Away) {
    let noted = CopiedRecord::open(directory)
        .and_then(|record| record.map_or(Ok(()), |mut record| record.note_away(Some(away))));
    if let Err(error) = noted {
        debug!(%error, "absence of the servers is not noted");
    }
}

fn copy_once(store: Store, places: &Places, runs: Vec<FleetRun>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    let work = async {
        let fleet = connect(&settings_of_user(places), places).await;
        let fleet = fleet.map_err(|error| error.sentence())?;
        follow_until(Until::CaughtUp, fleet, store, places, runs, Vec::new()).await;
        Ok(())
    };
    let done: Result<Result<(), String>, _> =
        runtime.block_on(async { timeout(PATIENCE, work).await });
    // If the time was over before, the files that were copied until then stay copied.
    if let Ok(Err(error)) = done {
        debug!(error, "fleet cannot be asked about runs");
    }
}
