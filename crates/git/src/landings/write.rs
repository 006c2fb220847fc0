//! Writes a landing into its checkout.

use std::path::PathBuf;
use std::sync::Arc;

use super::folder::{Landing, LandingMark};
use super::path_entries::{differing, staged, to_bytes};
use crate::changes::{FileChange, changes};
use crate::checkout_writer::{CheckoutWriter, LateSave, MergeFolder, Watcher, Written};
use crate::error::WorkspaceError;
use crate::merge::look;
use crate::object_id::ObjectId;
use crate::overwritten_files::in_the_way;

/// The file with the entries of the index.
pub(super) const INDEX: &str = "index";

/// The file with the commit that was checked out.
pub(super) const HEAD: &str = "head";

/// The outcome of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The checkout has the new state.
    Whole {
        /// The files that differ now.
        files: Vec<FileChange>,
        /// Files that somebody saved into their old version meanwhile.
        late_saves: Vec<LateSave>,
    },
    /// Somebody has changed the checkout since. Nothing was written.
    Moved,
    /// Files that are not part of the checkout would be overwritten. Nothing was written.
    InTheWay(Vec<PathBuf>),
}

impl Landing {
    /// Writes the difference between two states into the checkout, if that still is as the first
    /// one. Once it has begun it is finished or taken back, also after a crash.
    pub fn land(&self, before: &ObjectId, after: &ObjectId) -> Result<Landed, WorkspaceError> {
        self.land_with(before, after, &Watcher::default())
    }

    /// Does the same, and calls a function before each step. A test ends this process there.
    #[doc(hidden)]
    pub fn land_watched(
        &self,
        before: &ObjectId,
        after: &ObjectId,
        watch: Arc<dyn Fn(&'static str) + Send + Sync>,
    ) -> Result<Landed, WorkspaceError> {
        self.land_with(before, after, &Watcher::new(watch))
    }

    fn land_with(
        &self,
        before: &ObjectId,
        after: &ObjectId,
        watcher: &Watcher,
    ) -> Result<Landed, WorkspaceError> {
        let repository = self.repository.locked()?;
        let folder = MergeFolder::new(&repository)?;
        let (now, index) = look(&repository, &repository)?;
        if repository.tree_of(&now)? != repository.tree_of(before)? {
            return Ok(Landed::Moved);
        }
        let blocking = in_the_way(&repository, &now, after)?;
        if !blocking.is_empty() {
            return Ok(Landed::InTheWay(blocking));
        }
        let touched = differing(&repository, &now, after)?;
        self.write(INDEX, &to_bytes(&staged(&repository, &touched)?))?;
        let head = repository.head()?;
        self.write(
            HEAD,
            head.map_or(String::new(), |id| id.to_string()).as_bytes(),
        )?;
        watcher.step("keep");
        self.keep(&now, after)?;
        let mark = self.mark(LandingMark::Landed);
        let writer = CheckoutWriter {
            repository: &repository,
            folder: &folder,
            index: &index,
            mark: Some(&mark),
            watcher,
        };
        let files = changes(&repository, &now, after)?;
        match writer.write(&now, after)? {
            Written::Whole(late_saves) => Ok(Landed::Whole { files, late_saves }),
            Written::Changed { .. } => Ok(Landed::Moved),
        }
    }
}
