//! Catches up with runs of a fleet whose follower is gone: the fleet has their records, and the
//! command that looks at them copies the new bytes.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pi_subagents_engine::ProcessName;
use pi_subagents_sessions::{IndexedRun, OwnerName, Store};
use tokio::time::timeout;
use tracing::debug;

use super::connection::{connect, settings_of_user};
use super::elsewhere::is_from_elsewhere;
use super::follow::{Until, follow_until};
use super::following::FleetRun;
use crate::places::Places;
use crate::runs::follow::process_gone;
use crate::runs::owned::OwnerProcess as _;

/// The time for which a fleet may hold up a command that looks at runs.
const PATIENCE: Duration = Duration::from_secs(8);

/// The shortest pause between two times that one process catches up.
const AGAIN: Duration = Duration::from_secs(5);

/// The time at which this process last caught up.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Copies the new bytes of the open runs that no process follows. Returns whether there was any
/// such run.
pub(crate) fn catch_up(store: &Store, runs: &[IndexedRun]) -> bool {
    let left: Vec<FleetRun> = runs
        .iter()
        .filter(|run| run.is_open() && is_left(&run.owner))
        .map(|run| FleetRun {
            run: run.run.clone(),
            directory: run.directory.clone(),
            order: None,
            is_from_elsewhere: is_from_elsewhere(&run.owner),
        })
        .collect();
    if left.is_empty() || !is_time() {
        return false;
    }
    let store = store.clone();
    // It has a thread of its own, because the caller may be a thread of the runtime.
    let caught_up = thread::spawn(move || copy_once(store, left)).join();
    caught_up.unwrap_or(false)
}

/// Follows a run until it is over, beside other work, once no other process does.
pub(crate) async fn follow_left(run: FleetRun, owner: OwnerName) {
    if !is_left(&owner) {
        process_gone(&owner).await;
    }
    if run.directory.result().exists() {
        return;
    }
    let Ok(places) = Places::find() else { return };
    match connect(&settings_of_user(&places), &places).await {
        Ok(fleet) => {
            let store = Store::new(&places.agent_dir);
            follow_until(Until::Over, fleet, store, vec![run], Vec::new()).await;
        }
        Err(error) => debug!(error = error.sentence(), "fleet cannot be followed"),
    }
}

/// Returns whether the follower of a run is gone, as far as this machine knows.
fn is_left(owner: &OwnerName) -> bool {
    owner.fleet.is_some() && !owner.owner_process().is_some_and(ProcessName::is_alive)
}

fn is_time() -> bool {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_some_and(|last| last.elapsed() < AGAIN) {
        return false;
    }
    *last = Some(Instant::now());
    true
}

fn copy_once(store: Store, runs: Vec<FleetRun>) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(runtime), Ok(places)) = (runtime, Places::find()) else {
        return false;
    };
    let work = async {
        let fleet = connect(&settings_of_user(&places), &places).await;
        let fleet = fleet.map_err(|error| error.sentence())?;
        follow_until(Until::CaughtUp, fleet, store, runs, Vec::new()).await;
        Ok(())
    };
    let done: Result<Result<(), String>, _> =
        runtime.block_on(async { timeout(PATIENCE, work).await });
    match done {
        Ok(Err(error)) => {
            debug!(error, "fleet cannot be asked about runs");
            false
        }
        // If the time was over before, the files that were copied until then stay copied.
        Ok(Ok(())) | Err(_) => true,
    }
}
