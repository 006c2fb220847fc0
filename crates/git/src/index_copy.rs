//! A copy of an index, so that the index of the checkout is never touched.

use std::path::PathBuf;

use pi_subagents_files::{create_new, is_absent, open_own};
use tempfile::TempDir;

use crate::error::WorkspaceError;
use crate::git::Git;
use crate::object_id::ObjectId;
use crate::passing_directory::passing_directory;
use crate::repository::Repository;

/// A copy of an index. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct IndexCopy {
    directory: TempDir,
}

impl IndexCopy {
    /// Makes an index without entries.
    pub(crate) fn empty() -> Result<Self, WorkspaceError> {
        let directory = passing_directory()?;
        Ok(Self { directory })
    }

    /// Copies the index of a checkout. A checkout without an index has no entries.
    pub(crate) fn of(repository: &Repository) -> Result<Self, WorkspaceError> {
        let copy = Self::empty()?;
        let index = repository.git_dir().join("index");
        let mut from = match open_own(&index) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(copy),
            Err(error) => return Err(WorkspaceError::of_file(&index)(error)),
        };
        let path = copy.path();
        let copied = (|| {
            let written = from.metadata()?.modified()?;
            let mut to = create_new(&path)?;
            std::io::copy(&mut from, &mut to)?;
            // Git does not compare files that are older than the index. A copy that looks younger
            // would hide a change in the moment before the original was written.
            to.set_modified(written)
        })();
        copied.map_err(WorkspaceError::of_file(&path))?;
        Ok(copy)
    }

    /// Lets the copy know that the files of a checkout have gone from one state to another. A file
    /// that is not as the new state has it stays marked as changed.
    pub(crate) fn follow(
        &self,
        repository: &Repository,
        before: &ObjectId,
        after: &ObjectId,
    ) -> Result<(), WorkspaceError> {
        let git = self.git(repository);
        // The files have been written already, so the index is not compared with them.
        let (before, after) = (before.as_str(), after.as_str());
        git.run(&["read-tree", "-i", "-m", before, after])?;
        git.try_run(
            &["update-index", "-q", "--ignore-submodules", "--refresh"],
            b"",
        )?;
        Ok(())
    }

    /// Returns the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("index")
    }

    /// Prepares git to work on the copy.
    pub(crate) fn git(&self, repository: &Repository) -> Git {
        repository.git().clone().with_index(&self.path())
    }
}
