//! Takes a landing back: its files become what they were, and everything else stays.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::folder::{Landing, LandingMark};
use super::path_entries::{changed, differing, from_bytes, in_commit, mode_and_id, staged};
use super::write::{HEAD, INDEX};
use crate::changes::{FileChange, changes};
use crate::checkout_writer::{CheckoutWriter, LateSave, MergeFolder, Watcher, Written};
use crate::error::WorkspaceError;
use crate::matrix::Change;
use crate::merge::look;
use crate::merge_tree::{Conflict, merge_tree};
use crate::object_id::ObjectId;
use crate::overwritten_files::in_the_way;
use crate::repository::Repository;

/// The treatment of files of a landing that somebody has edited since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedEdits {
    /// Nothing is taken back.
    Refused,
    /// The edits stay, if they are in other places of the files.
    Kept,
}

/// The outcome of taking a landing back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenBack {
    /// The checkout has the old state again.
    Whole {
        /// The files that differ now.
        files: Vec<FileChange>,
        /// Files that somebody saved meanwhile.
        late_saves: Vec<LateSave>,
    },
    /// These files were committed since, the first of them with this commit. Nothing was written.
    Committed {
        /// The files.
        files: Vec<PathBuf>,
        /// The commit.
        commit: String,
    },
    /// These files were staged since. Nothing was written.
    Staged(Vec<PathBuf>),
    /// These files were edited since. Nothing was written.
    Edited(Vec<PathBuf>),
    /// The edits are in the places that would be taken back. Nothing was written.
    Conflicts(Vec<Conflict>),
    /// Files that git does not keep are where old files come back. Nothing was written.
    InTheWay(Vec<PathBuf>),
    /// Somebody changed a file in this moment. Nothing was written.
    Moved(PathBuf),
    /// Its states are not kept any more.
    Forgotten,
}

impl Landing {
    /// Takes it back, unless its files were changed since.
    pub fn take_back(&self, edits: SavedEdits) -> Result<TakenBack, WorkspaceError> {
        let repository = self.repository.locked()?;
        let Some([before, after]) = self.states()? else {
            return Ok(TakenBack::Forgotten);
        };
        let folder = MergeFolder::new(&repository)?;
        let (now, index) = look(&repository, &repository)?;
        let touched = differing(&repository, &before, &after)?;
        let since = Since {
            landing: self,
            repository: &repository,
            after: &after,
            touched: &touched,
        };
        if let Some(why) = since.refusal(&now, edits)? {
            return Ok(why);
        }
        let back = Change {
            base: after.clone(),
            result: before,
        };
        let merged = merge_tree(&repository, back.onto(&now))?;
        if !merged.conflicts.is_empty() {
            return Ok(TakenBack::Conflicts(merged.conflicts));
        }
        let blocking = in_the_way(&repository, &now, &merged.tree)?;
        if !blocking.is_empty() {
            return Ok(TakenBack::InTheWay(blocking));
        }
        let files = changes(&repository, &now, &merged.tree)?;
        let mark = self.mark(LandingMark::TakenBack);
        let writer = CheckoutWriter {
            repository: &repository,
            folder: &folder,
            index: &index,
            mark: Some(&mark),
            watcher: &Watcher::default(),
        };
        Ok(match writer.write(&now, &merged.tree)? {
            Written::Whole(late_saves) => TakenBack::Whole { files, late_saves },
            Written::Changed { path, .. } => TakenBack::Moved(path),
        })
    }
}

/// What became of the files of a landing since.
struct Since<'a> {
    landing: &'a Landing,
    repository: &'a Repository,
    after: &'a ObjectId,
    touched: &'a BTreeSet<PathBuf>,
}

impl Since<'_> {
    /// Returns why it is not taken back, if there is a reason.
    fn refusal(
        &self,
        now: &ObjectId,
        edits: SavedEdits,
    ) -> Result<Option<TakenBack>, WorkspaceError> {
        if let Some(committed) = self.committed()? {
            return Ok(Some(committed));
        }
        let noted = from_bytes(&self.landing.read(INDEX).unwrap_or_default());
        let present = staged(self.repository, self.touched)?;
        let staged = changed(self.touched, &noted, &present);
        if !staged.is_empty() {
            let files = staged.into_iter().map(PathBuf::from).collect();
            return Ok(Some(TakenBack::Staged(files)));
        }
        if edits == SavedEdits::Kept {
            return Ok(None);
        }
        let edited = differing(self.repository, self.after, now)?;
        let edited: Vec<PathBuf> = edited.intersection(self.touched).cloned().collect();
        Ok((!edited.is_empty()).then_some(TakenBack::Edited(edited)))
    }

    /// Finds the files that a commit has as the landing left them, and that no commit had so before.
    fn committed(&self) -> Result<Option<TakenBack>, WorkspaceError> {
        let then = self.landing.read(HEAD).unwrap_or_default();
        let then = std::str::from_utf8(&then).ok().and_then(ObjectId::parse);
        let Some(head) = self
            .repository
            .head()?
            .filter(|head| then.as_ref() != Some(head))
        else {
            return Ok(None);
        };
        let entries = |commit: &ObjectId| in_commit(self.repository, commit, self.touched);
        let (present, landed) = (entries(&head)?, entries(self.after)?);
        let earlier = then.map(|then| entries(&then)).transpose()?;
        let earlier = earlier.unwrap_or_default();
        let of = |entry: Option<&Vec<u8>>| {
            entry
                .and_then(|entry| mode_and_id(entry))
                .map(|(mode, id)| (mode.to_owned(), id.to_owned()))
        };
        let is_committed = |path: &&PathBuf| {
            let landed = of(landed.get(*path));
            of(present.get(*path)) == landed && of(earlier.get(*path)) != landed
        };
        let files: Vec<PathBuf> = self.touched.iter().filter(is_committed).cloned().collect();
        let Some(first) = files.first() else {
            return Ok(None);
        };
        let git = self.repository.git().clone();
        let git = git.with_variable("GIT_LITERAL_PATHSPECS", "1");
        let mut arguments = crate::git::words(&["log", "-1", "--format=%h", "--"]);
        arguments.push(first.as_os_str());
        let commit = git.line(&arguments)?;
        Ok(Some(TakenBack::Committed { files, commit }))
    }
}
