//! Takes a landing back: its files become what they were, and everything else stays.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::folder::{Landing, LandingMark};
use super::path_entries::{changed, differing, from_bytes, in_commit, mode_and_id, staged};
use super::write::{HEAD, INDEX};
use crate::changes::{FileChange, changes};
use crate::checkout_writer::{CheckoutWriter, LateSave, MergeFolder, Watcher, Written};
use crate::error::WorkspaceError;
use crate::index_copy::IndexCopy;
use crate::matrix::Change;
use crate::merge::look;
use crate::merge_tree::{Conflict, merge_tree};
use crate::object_id::ObjectId;
use crate::overwritten_files::in_the_way;
use crate::repository::Repository;
use crate::stack::{Stack, Stacked};

/// The author's date of a commit that is made here.
const NO_DATE: &str = "@0 +0000";

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

/// The checkout without a part of a landing, before anything is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HalfRehearsed {
    /// It would have this state.
    State(HalfState),
    /// It cannot be taken back.
    Refused(TakenBack),
}

/// A state of the checkout without a part of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HalfState {
    /// The checkout as it is.
    now: ObjectId,
    /// The checkout as it would be.
    pub state: ObjectId,
}

/// What is to be written.
struct Plan {
    now: ObjectId,
    index: IndexCopy,
    tree: ObjectId,
}

impl Landing {
    /// Takes it back, unless its files were changed since.
    pub fn take_back(&self, edits: SavedEdits) -> Result<TakenBack, WorkspaceError> {
        let repository = self.repository.locked()?;
        let Some([before, _]) = self.states()? else {
            return Ok(TakenBack::Forgotten);
        };
        match self.plan(&repository, &before, edits)? {
            Ok(plan) => self.write_back(&repository, &plan, LandingMark::TakenBack),
            Err(why) => Ok(why),
        }
    }

    /// Returns its state after it with some files and directories as they were before. `None` if it has
    /// changed none of them.
    pub fn without_files(&self, paths: &[PathBuf]) -> Result<Option<ObjectId>, WorkspaceError> {
        let Some([before, after]) = self.states()? else {
            return Ok(None);
        };
        let repository = &self.repository;
        let mut touched = differing(repository, &before, &after)?;
        touched.retain(|path| paths.iter().any(|wanted| path.starts_with(wanted)));
        if touched.is_empty() {
            return Ok(None);
        }
        let earlier = in_commit(repository, &before, &touched)?;
        let zero = "0".repeat(after.as_str().len());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for path in &touched {
            let name = path.as_os_str().as_bytes();
            let entry = earlier.get(path).and_then(|entry| mode_and_id(entry));
            let (lines, mode, id) = match entry {
                Some((mode, id)) => (&mut added, mode, id),
                None => (&mut removed, &b"0"[..], zero.as_bytes()),
            };
            let words: [&[u8]; 6] = [mode, b" ", id, b"\t", name, b"\0"];
            lines.extend(words.concat());
        }
        let index = IndexCopy::empty()?;
        let git = index.git(repository);
        git.run(&["read-tree", after.as_str()])?;
        let arguments = ["update-index", "-z", "--replace", "--index-info"];
        git.run_with(&arguments, &[removed, added].concat())?;
        let tree = git.id(&["write-tree"])?;
        let made =
            repository.commit_tree(&tree, &[&after], "a part of a landing", Some(NO_DATE))?;
        Ok(Some(made))
    }

    /// Returns a state, its state after it if none is given, without one of the changes that it was
    /// made of; `None` if that state is not kept any more.
    pub fn without_change(
        &self,
        change: &Change,
        state: Option<&ObjectId>,
    ) -> Result<Option<Stacked>, WorkspaceError> {
        let Some([_, after]) = self.states()? else {
            return Ok(None);
        };
        let after = state.unwrap_or(&after);
        let back = Change {
            base: change.result.clone(),
            result: change.base.clone(),
        };
        let stack = Stack::of(&self.repository)?;
        stack.put(&back, after).map(Some)
    }

    /// Finds the state that the checkout would have if its state after it was another one. Nothing is
    /// written.
    pub fn rehearse_back(
        &self,
        to: &ObjectId,
        edits: SavedEdits,
    ) -> Result<HalfRehearsed, WorkspaceError> {
        let repository = self.repository.locked()?;
        let plan = match self.plan(&repository, to, edits)? {
            Ok(plan) => plan,
            Err(why) => return Ok(HalfRehearsed::Refused(why)),
        };
        let made = repository.commit_tree(&plan.tree, &[&plan.now], "rehearsed", Some(NO_DATE))?;
        Ok(HalfRehearsed::State(HalfState {
            now: plan.now,
            state: made,
        }))
    }

    /// Writes the difference between its state after it and another one into the checkout, if that still
    /// is as it was rehearsed. Makes the mark [`LandingMark::Halved`].
    pub fn take_back_half(
        &self,
        to: &ObjectId,
        rehearsed: &HalfState,
        edits: SavedEdits,
    ) -> Result<TakenBack, WorkspaceError> {
        let repository = self.repository.locked()?;
        let plan = match self.plan(&repository, to, edits)? {
            Ok(plan) => plan,
            Err(why) => return Ok(why),
        };
        if plan.tree != repository.tree_of(&rehearsed.state)? {
            let changed = differing(&repository, &rehearsed.now, &plan.now)?;
            let path = changed.into_iter().next().unwrap_or_default();
            return Ok(TakenBack::Moved(path));
        }
        self.write_back(&repository, &plan, LandingMark::Halved)
    }

    /// Finds out what is to be written so that the checkout has another state in place of the one after
    /// it, or why that is not done.
    fn plan(
        &self,
        repository: &Repository,
        to: &ObjectId,
        edits: SavedEdits,
    ) -> Result<Result<Plan, TakenBack>, WorkspaceError> {
        let Some([_, after]) = self.states()? else {
            return Ok(Err(TakenBack::Forgotten));
        };
        let (now, index) = look(repository, repository)?;
        let touched = differing(repository, to, &after)?;
        let since = Since {
            landing: self,
            repository,
            after: &after,
            touched: &touched,
        };
        if let Some(why) = since.refusal(&now, edits)? {
            return Ok(Err(why));
        }
        let back = Change {
            base: after.clone(),
            result: to.clone(),
        };
        let merged = merge_tree(repository, back.onto(&now))?;
        if !merged.conflicts.is_empty() {
            return Ok(Err(TakenBack::Conflicts(merged.conflicts)));
        }
        let blocking = in_the_way(repository, &now, &merged.tree)?;
        if !blocking.is_empty() {
            return Ok(Err(TakenBack::InTheWay(blocking)));
        }
        Ok(Ok(Plan {
            now,
            index,
            tree: merged.tree,
        }))
    }

    fn write_back(
        &self,
        repository: &Repository,
        plan: &Plan,
        mark: LandingMark,
    ) -> Result<TakenBack, WorkspaceError> {
        let folder = MergeFolder::new(repository)?;
        let files = changes(repository, &plan.now, &plan.tree)?;
        let mark = self.mark(mark);
        let writer = CheckoutWriter {
            repository,
            folder: &folder,
            index: &plan.index,
            mark: Some(&mark),
            watcher: &Watcher::default(),
        };
        Ok(match writer.write(&plan.now, &plan.tree)? {
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
