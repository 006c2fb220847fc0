//! Finishes or takes back writes that a process left which was killed. Whoever takes the lock of the
//! repository does that first.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::Directory;
use tracing::{info, warn};

use super::folder::MergeFolder;
use super::journal::Journal;
use super::late_save::{LateSave, keep_late_saves};
use super::recovery_rule::{EntryState, Recovery, Stage, recovery, state_of};
use super::steps::{Stepped, Steps};
use crate::repository::Repository;

/// A write that was interrupted, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The checkout.
    pub checkout: PathBuf,
    /// What became of it.
    pub recovered_as: RecoveredAs,
    /// Files that somebody saved into their old version.
    pub late_saves: Vec<LateSave>,
}

/// What became of a write that was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveredAs {
    /// The checkout has the new state.
    Finished,
    /// The checkout has the old state, except for files that somebody has edited since.
    TakenBack,
}

/// Recovers all writes that were interrupted. The caller holds the lock of the repository.
pub(crate) fn recover(repository: &Repository) -> Vec<Recovered> {
    let mut recovered = Vec::new();
    for path in MergeFolder::left(repository) {
        match recover_one(&path) {
            Ok(Some(found)) => {
                info!(checkout = %found.checkout.display(), "an interrupted write was recovered");
                recovered.push(found);
            }
            Ok(None) => {}
            // The next one who takes the lock tries it again.
            Err(error) => warn!(path = %path.display(), %error, "a write cannot be recovered"),
        }
    }
    recovered
}

/// Recovers the write of one folder; `None` if none was begun in it. The folder goes with it.
fn recover_one(path: &Path) -> io::Result<Option<Recovered>> {
    let folder = MergeFolder::open(path)?;
    let Some(journal) = Journal::read(folder.directory())? else {
        return Ok(None);
    };
    let top = Directory::open(&journal.top)?;
    let slots = folder.slots()?;
    let steps = Steps {
        top: &top,
        slots: &slots,
        journal: &journal,
    };
    let recovered_as = finish_or_take_back(&steps)?;
    let late_saves = keep_late_saves(&steps, path)?;
    steps.tidy(recovered_as == RecoveredAs::Finished)?;
    match recovered_as {
        RecoveredAs::Finished => journal.close(folder.directory())?,
        RecoveredAs::TakenBack => Journal::remove(folder.directory())?,
    }
    Ok(Some(Recovered {
        checkout: journal.top.clone(),
        recovered_as,
        late_saves,
    }))
}

/// Finishes a write if nobody has edited a path that it has not written, and takes it back
/// otherwise.
fn finish_or_take_back(steps: &Steps<'_>) -> io::Result<RecoveredAs> {
    let states = look_at_all(steps)?;
    match recovery(&states) {
        Recovery::Finish if finish(steps, &states)? => return Ok(RecoveredAs::Finished),
        Recovery::Finish | Recovery::TakeBack => {}
    }
    // Somebody may have saved a file in this moment, so it is looked at again.
    take_back(steps, &look_at_all(steps)?)?;
    Ok(RecoveredAs::TakenBack)
}

fn look_at_all(steps: &Steps<'_>) -> io::Result<Vec<EntryState>> {
    let entries = steps.journal.entries.iter().enumerate();
    let states = entries.map(|(number, entry)| Ok(state_of(entry, &steps.look(number)?)));
    states.collect()
}

/// Writes what was not written. Returns false if somebody has edited a path in this moment.
fn finish(steps: &Steps<'_>, states: &[EntryState]) -> io::Result<bool> {
    for (number, state) in states.iter().enumerate() {
        let stepped = match state.stage {
            Stage::Unwritten => steps.forward(number)?,
            Stage::MovedOut => steps.finish(number)?,
            Stage::Written => Stepped::Done,
        };
        if stepped == Stepped::Edited {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes back what was written. A file that somebody has edited stays as they left it.
fn take_back(steps: &Steps<'_>, states: &[EntryState]) -> io::Result<()> {
    for (number, state) in states.iter().enumerate().rev() {
        if !state.is_edited {
            steps.backward(number, state.stage)?;
        }
    }
    Ok(())
}
