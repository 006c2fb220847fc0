//! Counts the background runs of a user, and refuses a run that is too many.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::Advice;
use std::time::Duration;

use pi_subagents_files::{self as files, HeldLock, LockError, lock_file};
use pi_subagents_records::{IndexedRun, Store};

use crate::begin::PreparedCaller;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::counts::Counts;
use pi_subagents_runs::find::status_of;

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
        let counts = check_limit(store, asking, wanted)?;
        Ok(Self {
            counts: Counts {
                running: counts.running + wanted,
                ..counts
            },
            warning,
            _lock: lock.ok(),
        })
    }
}

/// Counts the background runs, and fails if so many more would be too many.
pub(crate) fn check_limit(
    store: &Store,
    asking: &PreparedCaller,
    wanted: usize,
) -> Result<Counts, CommandError> {
    let (caller, most) = (&asking.caller, asking.configuration.settings.max_background);
    let runs = store.runs().map_err(find_failure)?;
    let open = runs
        .iter()
        .filter(|run| run.is_background() && run.is_open());
    let counts = background_counts(&runs, &caller.places);
    if open.count() + wanted > most {
        return Err(full(counts, most, wanted));
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

fn full(counts: Counts, most: usize, wanted: usize) -> CommandError {
    let problem = if wanted == 1 {
        format!("{most} background runs are already running, which is the limit")
    } else {
        format!("{wanted} more background runs would exceed the limit of {most}")
    };
    CommandError::failed(format!(
        "{problem} (subagents.maxBackground): {}",
        counts.line()
    ))
    .advise("", Advice::MakeRoom, "")
}
