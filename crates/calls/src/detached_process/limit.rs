//! Counts the background runs of a user, and refuses a run that is too many.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::{Advice, Status};
use std::time::Duration;

use pi_subagents_files::{self as files, HeldLock, LockError, lock_file};
use pi_subagents_records::{IndexedRun, Store};

use crate::begin::PreparedCaller;
use crate::destination::Destination;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::find::status_of;
use pi_subagents_vocabulary::Counts;

/// One or more places among the background runs of this user. While a process holds a place, no
/// other process can take one, so it is dropped as soon as the run is in the index.
pub(crate) struct Place {
    /// The counts, with the runs that take these places.
    pub(crate) counts: Counts,
    /// The reason why another process may have taken the last place at the same time, if that is
    /// possible.
    pub(crate) warning: Option<String>,
    _lock: Option<HeldLock>,
}

impl Place {
    /// Waits for other processes that take places, and takes the wanted number of places, or none.
    pub(crate) fn take(
        store: &Store,
        asking: &PreparedCaller,
        wanted: usize,
    ) -> Result<Self, CommandError> {
        let lock = lock(&asking.caller.places);
        let warning = lock.as_ref().err().map(|error| {
            format!("{error}; more background runs than subagents.maxBackground may start at once")
        });
        let mut counts = check_limit(store, asking, wanted)?;
        for _ in 0..wanted {
            counts.add(Status::Running);
        }
        Ok(Self {
            counts,
            warning,
            _lock: lock.ok(),
        })
    }
}

/// The number of runs in a fleet that may be in the background. Each costs this machine a process
/// that copies its record, and nothing else.
const MOST_IN_FLEET: usize = 1000;

/// Counts the background runs, and fails if so many more would be too many. Runs of this machine and
/// runs of a fleet are counted apart.
pub(crate) fn check_limit(
    store: &Store,
    asking: &PreparedCaller,
    wanted: usize,
) -> Result<Counts, CommandError> {
    let caller = &asking.caller;
    let is_for_fleet = Destination::of_call(caller, &asking.configuration)?
        .fleet()
        .is_some();
    let runs = store.runs().map_err(find_failure)?;
    let is_of_kind = |run: &&IndexedRun| run.owner.fleet.is_some() == is_for_fleet;
    let open = runs
        .iter()
        .filter(|run| run.is_background() && run.is_open())
        .filter(is_of_kind)
        .count();
    let counts = background_counts(&runs, &caller.places);
    let most = if is_for_fleet {
        MOST_IN_FLEET
    } else {
        asking.configuration.settings.max_background
    };
    if open + wanted > most {
        return Err(full(counts, most, is_for_fleet, wanted));
    }
    Ok(counts)
}

/// The time for which we wait for other processes that take a place, which takes them milliseconds.
/// After that, one run more than allowed is the smaller evil: the holder of the lock may hold it
/// for ever.
const PATIENCE: Duration = Duration::from_secs(5);

fn lock(places: &Places) -> Result<HeldLock, LockError> {
    // Without the directory there is no lock either, and the error of the lock is clearer.
    _ = files::create_directories(&places.agent_dir);
    lock_file(
        &places.agent_dir.join("subagents-background.lock"),
        PATIENCE,
    )
}

/// Counts the background runs: those in progress in all projects, and the finished ones of this
/// project.
pub(crate) fn background_counts(runs: &[IndexedRun], places: &Places) -> Counts {
    Counts::of(
        runs.iter()
            .filter(|run| run.is_background())
            .filter(|run| run.is_open() || run.project == places.project)
            .map(status_of),
    )
}

fn full(counts: Counts, most: usize, is_for_fleet: bool, wanted: usize) -> CommandError {
    let whose = if is_for_fleet {
        "of a fleet"
    } else {
        "subagents.maxBackground"
    };
    let problem = if wanted == 1 {
        format!("{most} background runs are already running, which is the limit")
    } else {
        format!("{wanted} more background runs would exceed the limit of {most}")
    };
    CommandError::failed(format!("{problem} ({whose}): {}", counts.background_line())).advise(
        "",
        Advice::MakeRoom,
        "",
    )
}
