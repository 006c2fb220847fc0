//! How many background runs a user has, and that there are not too many.

use std::fs::{self, File};

use pi_subagents_sessions::IndexedRun;
use rustix::fs::{FlockOperation, flock};

use crate::caller::Caller;
use crate::counts::Counts;
use crate::door::Door;
use crate::error::CommandError;
use crate::owner::Owner;
use crate::places::Places;
use crate::recorded::status_of;

/// One or more places among the background runs of this user. While it is held nobody else takes one, so it
/// is dropped as soon as the run is in the index.
pub(super) struct Place {
    /// With the runs that take these places.
    pub(super) counts: Counts,
    /// None where it could not be made: then two callers may take the last place at once.
    _lock: Option<File>,
}

impl Place {
    /// Waits for the others who take some, and takes as many as are wanted, or none.
    pub(super) fn take(
        owner: &Owner,
        caller: &Caller,
        most: usize,
        wanted: usize,
    ) -> Result<Self, CommandError> {
        let places = &caller.places;
        let lock = lock(places);
        let runs = owner.store.runs()?;
        let open = runs
            .iter()
            .filter(|run| run.is_background() && run.is_open());
        let counts = background_counts(&runs, places);
        if open.count() + wanted > most {
            return Err(full(counts, most, wanted, caller.door));
        }
        Ok(Self {
            counts: Counts {
                running: counts.running + wanted,
                ..counts
            },
            _lock: lock,
        })
    }
}

fn lock(places: &Places) -> Option<File> {
    fs::create_dir_all(&places.agent_dir).ok()?;
    let file = File::create(places.agent_dir.join("subagents-background.lock")).ok()?;
    flock(&file, FlockOperation::LockExclusive).ok()?;
    Some(file)
}

/// The background runs: what runs counts wherever it runs, what is over only where it belongs.
pub(crate) fn background_counts(runs: &[IndexedRun], places: &Places) -> Counts {
    Counts::of(
        runs.iter()
            .filter(|run| run.is_background())
            .filter(|run| run.is_open() || run.project == places.project)
            .map(status_of),
    )
}

fn full(counts: Counts, most: usize, wanted: usize, door: Door) -> CommandError {
    let problem = if wanted == 1 {
        format!("{most} background runs are running already, and no more may")
    } else {
        format!("{wanted} more background runs would be more than the {most} that may run")
    };
    CommandError::failed(format!(
        "{problem} (subagents.maxBackground): {}",
        counts.line()
    ))
    .hint(door.how_to_make_room())
}
