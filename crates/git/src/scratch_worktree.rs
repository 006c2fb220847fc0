//! A worktree for a moment, in which one state after the other is tried. What git ignores stays in
//! it, so that a build has its earlier output.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pi_subagents_files::{Directory, create_directories};

use crate::error::WorkspaceError;
use crate::git::words;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};
use crate::snapshot::INSIDE_NO_SUBMODULE;
use crate::worktree::{ABSOLUTE, open_worktree, remove_worktree_directory};

/// The files of two states differ in their times by so much. Programs that keep what they made of a
/// file, such as Python, compare whole seconds and the size.
const APART: Duration = Duration::from_secs(2);

/// At most so many files are named.
const MOST_NAMED: usize = 20;

/// A worktree for a moment. It is removed when it is dropped.
#[derive(Debug)]
pub struct ScratchWorktree {
    repository: Repository,
    worktree: Repository,
    place: PathBuf,
    state: ObjectId,
    /// The time of the files that were changed last.
    switched: SystemTime,
}

impl ScratchWorktree {
    /// Makes it in a directory with a state. What an earlier one left there goes first.
    pub fn make(
        repository: &Repository,
        place: &Path,
        state: &ObjectId,
    ) -> Result<Self, WorkspaceError> {
        remove_worktree_directory(repository, place)?;
        let above = place.parent().unwrap_or(place);
        create_directories(above).map_err(WorkspaceError::of_file(above))?;
        let options = ["worktree", "add", "--quiet", "--detach", "--lock"];
        let mut arguments = words(&options);
        arguments.extend(words(&["--reason", "pi-subagents review"]));
        arguments.push(place.as_os_str());
        arguments.push(state.as_str().as_ref());
        let git = repository.git().clone().patient().with_setting(ABSOLUTE);
        let made = git.run(&arguments).map_err(WorkspaceError::from);
        match made.and_then(|_| open_worktree(repository, place)) {
            Ok(worktree) => Ok(Self {
                repository: repository.clone(),
                worktree,
                place: place.to_owned(),
                state: state.clone(),
                switched: SystemTime::now(),
            }),
            Err(error) => {
                // The first error says what is wrong.
                _ = remove_worktree_directory(repository, place);
                Err(error)
            }
        }
    }

    /// Returns its directory.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Returns the worktree as a checkout.
    pub fn checkout(&self) -> &Repository {
        &self.worktree
    }

    /// Gives its files another state. Ignored files stay, and all others are as the state has them.
    pub fn show(&mut self, state: &ObjectId) -> Result<(), WorkspaceError> {
        let git = self.worktree.git().clone().patient();
        let switched = self.written()?;
        git.run(&["read-tree", "--reset", "-u", state.as_str()])?;
        git.run(&["clean", "--quiet", "--force", "-d"])?;
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", "--name-only"];
        let ends = ["--diff-filter=d", self.state.as_str(), state.as_str()];
        let printed = git.run(&[&arguments[..], &ends].concat())?;
        let changed = entries(&printed).map(|entry| path(entry).to_owned());
        self.set_times(changed.chain(switched));
        git.try_run(&["update-index", "-q", "--refresh"], b"")?;
        self.state = state.clone();
        Ok(())
    }

    /// Lists the files that differ from the state that it was given, and files beside them that git
    /// does not ignore: somebody has written them since.
    pub fn written(&self) -> Result<Vec<PathBuf>, WorkspaceError> {
        let git = self.worktree.git();
        let changed = ["diff-files", "-z", "--name-only", INSIDE_NO_SUBMODULE];
        let new = ["ls-files", "-z", "--others", "--exclude-standard"];
        let printed = [git.run(&changed)?, git.run(&new)?].concat();
        let files = entries(&printed).map(|entry| path(entry).to_owned());
        Ok(files.take(MOST_NAMED).collect())
    }

    /// Gives files that were changed a time that no earlier version of them had.
    fn set_times(&mut self, files: impl Iterator<Item = PathBuf>) {
        self.switched = SystemTime::now().max(self.switched + APART);
        let Ok(top) = Directory::open(&self.place) else {
            return;
        };
        for file in files {
            // A link has no content that anybody keeps, and a file that is gone needs no time.
            if let Ok(file) = top.open_file(&file) {
                _ = file.set_modified(self.switched);
            }
        }
    }
}

impl Drop for ScratchWorktree {
    fn drop(&mut self) {
        // What stays is removed by the next one in this place.
        _ = remove_worktree_directory(&self.repository, &self.place);
    }
}
