//! Writes the difference between two states into a checkout, so that neither a crash nor somebody who
//! saves a file meanwhile leaves it half written. `git read-tree -u` writes in place: killed in the
//! middle it leaves files of both states, some of them cut.
//!
//! 1. All new files are made in a folder on the same disk ([`staging`]).
//! 2. What is on disk is noted, and git says whether it is the state before.
//! 3. The journal is written and synced ([`journal`]). From here the write is finished or taken back,
//!    by this process or by the next one that takes the lock of the repository ([`recovery`]).
//! 4. Path by path, the old and the new file take each other's place ([`steps`]). What came out is
//!    compared with what was noted; if it differs, all is taken back.
//! 5. What came out is looked at once more, because an editor may have written into the old file. Then
//!    the journal goes.
//!
//! The index, HEAD and branches are not touched.

mod folder;
mod journal;
mod late_save;
mod look;
mod path_change;
mod recovery;
mod recovery_rule;
mod spot;
mod staging;
mod steps;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_files::Directory;

use self::journal::Journal;
use self::late_save::keep_late_saves;
use self::path_change::{PathChange, SideKind, path_changes};
use self::recovery_rule::Stage;
use self::staging::{Staged, stage};
use self::steps::{Stepped, Steps};
use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};
use crate::snapshot::INSIDE_NO_SUBMODULE;

pub(crate) use self::folder::MergeFolder;
pub use self::late_save::LateSave;
pub(crate) use self::recovery::recover;
pub use self::recovery::{Recovered, RecoveredAs};

/// Writes states into a checkout. The caller holds the lock of the repository.
#[derive(Debug)]
pub(crate) struct CheckoutWriter<'a> {
    /// The repository, in which both states are.
    pub(crate) repository: &'a Repository,
    pub(crate) folder: &'a MergeFolder,
    /// An index that knows the files of the state before.
    pub(crate) index: &'a IndexCopy,
    /// The file that is made when a write is finished, also by whoever finishes it after a crash.
    pub(crate) mark: Option<&'a Path>,
    pub(crate) watcher: &'a Watcher,
}

/// The outcome of a write.
#[derive(Debug)]
pub(crate) enum Written {
    /// The checkout has the new state. Files that somebody saved into their old version meanwhile
    /// are kept.
    Whole(Vec<LateSave>),
    /// Somebody has changed this path, so nothing is written.
    Changed {
        path: PathBuf,
        /// Files that somebody saved into a new version that was taken back.
        late: Vec<LateSave>,
    },
}

impl Written {
    /// Somebody has changed a path before the first step.
    fn changed(path: PathBuf) -> Self {
        let late = Vec::new();
        Self::Changed { path, late }
    }
}

/// Somebody who wants to know of each step before it is done: a test that ends the process there.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<dyn Fn(&'static str) + Send + Sync>>);

impl Watcher {
    pub(crate) fn new(watch: Arc<dyn Fn(&'static str) + Send + Sync>) -> Self {
        Self(Some(watch))
    }

    pub(crate) fn step(&self, name: &'static str) {
        if let Some(watch) = &self.0 {
            watch(name);
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watcher")
    }
}

impl CheckoutWriter<'_> {
    /// Writes the difference between two states. The checkout has the first one.
    pub(crate) fn write(
        &self,
        before: &ObjectId,
        after: &ObjectId,
    ) -> Result<Written, WorkspaceError> {
        let changes = path_changes(self.repository, before, after)?;
        self.watcher.step("stage");
        let journal = match stage(self.repository, self.folder, &changes, after)? {
            Staged::Ready(journal) => Journal {
                mark: self.mark.map(Path::to_owned),
                ..journal
            },
            Staged::Changed(path) => return Ok(Written::changed(path)),
        };
        if let Some(path) = self.first_changed(&changes)? {
            return Ok(Written::changed(path));
        }
        let top = self.repository.top();
        let top = Directory::open(top).map_err(WorkspaceError::of_file(top))?;
        let written = self.exchange_all(&top, &journal);
        let outcome = written.map_err(WorkspaceError::of_file(self.folder.path()))?;
        if let Written::Whole(_) = &outcome {
            make_room_for_submodules(&top, &changes);
        }
        Ok(outcome)
    }

    /// Returns the first of some paths that is not as the index has it.
    fn first_changed(&self, changes: &[PathChange]) -> Result<Option<PathBuf>, WorkspaceError> {
        let git = self.index.git(self.repository);
        let arguments = ["diff-files", "-z", "--name-only", INSIDE_NO_SUBMODULE];
        let printed = git.run(&arguments)?;
        let differing: BTreeSet<&Path> = entries(&printed).map(path).collect();
        let written = changes.iter().filter(|one| one.before.kind.is_written());
        let mut overtaken = written.filter(|one| differing.contains(one.path.as_path()));
        Ok(overtaken.next().map(|one| one.path.clone()))
    }

    fn exchange_all(&self, top: &Directory, journal: &Journal) -> std::io::Result<Written> {
        let folder = self.folder.directory();
        let slots = self.folder.slots()?;
        let steps = Steps {
            top,
            slots: &slots,
            journal,
        };
        self.watcher.step("journal");
        // The new files must be on disk before one of them is in its place.
        folder.sync_disk()?;
        journal.write(folder)?;
        for number in 0..journal.entries.len() {
            self.watcher.step("exchange");
            let stepped = steps.forward(number);
            if matches!(stepped, Ok(Stepped::Done)) {
                continue;
            }
            // Its own entry may be half done where there are two steps.
            let late = self.take_back(&steps, number)?;
            stepped?;
            let path = journal.entries[number].path.clone();
            return Ok(Written::Changed { path, late });
        }
        self.watcher.step("look again");
        let late = keep_late_saves(&steps, self.folder.path())?;
        steps.tidy(true)?;
        self.watcher.step("close");
        journal.close(folder)?;
        self.watcher.step("closed");
        Ok(Written::Whole(late))
    }

    /// Takes back all entries up to one. An edit of somebody stays where it is.
    fn take_back(&self, steps: &Steps<'_>, last: usize) -> std::io::Result<Vec<LateSave>> {
        for number in (0..=last).rev() {
            self.watcher.step("take back");
            let stage = if number == last {
                let found = steps.look(number)?;
                recovery_rule::state_of(&steps.journal.entries[number], &found).stage
            } else {
                Stage::Written
            };
            steps.backward(number, stage)?;
        }
        let late = keep_late_saves(steps, self.folder.path())?;
        steps.tidy(false)?;
        Journal::remove(self.folder.directory())?;
        Ok(late)
    }
}

/// Makes the directories of new submodules and removes those of old ones, as git does: only if they
/// are empty.
fn make_room_for_submodules(top: &Directory, changes: &[PathChange]) {
    for change in changes {
        let spot = match (change.before.kind, change.after.kind) {
            (SideKind::Submodule, SideKind::Submodule) => continue,
            (_, SideKind::Submodule) => spot::Spot::make(top, &change.path).ok(),
            (SideKind::Submodule, _) => spot::Spot::open(top, &change.path).ok().flatten(),
            _ => continue,
        };
        let Some(spot) = spot else { continue };
        // An empty directory more or less changes nothing that git knows.
        if change.after.kind == SideKind::Submodule {
            _ = spot.directory.make_ordinary_directory(&spot.name);
        } else {
            _ = spot.directory.remove_empty(&spot.name);
        }
    }
}
