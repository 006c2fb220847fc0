//! The errors of operations on a repository or a workspace.

use std::io;
use std::path::{Path, PathBuf};

use crate::git::GitError;

/// The reason why an operation on a repository or a workspace failed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// No directory above has a repository.
    #[error("{} is not in a git repository", directory.display())]
    NoRepository {
        /// The directory in which the search began.
        directory: PathBuf,
    },
    /// The repository has no files of its own.
    #[error("{} is a bare repository, which has no files to work on", directory.display())]
    Bare {
        /// The repository.
        directory: PathBuf,
    },
    /// There is nothing to begin from.
    #[error("the repository {} has no commit yet; make one first", directory.display())]
    NoCommit {
        /// The repository.
        directory: PathBuf,
    },
    /// A merge, a rebase or a cherry-pick is not finished.
    #[error("{} has unmerged files ({}); finish or abort the merge first", directory.display(), names(files))]
    Unmerged {
        /// The checkout.
        directory: PathBuf,
        /// The files, at most ten.
        files: Vec<PathBuf>,
    },
    /// A name cannot be part of a ref.
    #[error("\"{name}\" cannot be a part of the name of a ref; use letters, digits, - and _")]
    BadName {
        /// The name.
        name: String,
    },
    /// A file or directory could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Somebody else is at work on the repository.
    #[error(transparent)]
    Locked(#[from] pi_subagents_files::LockError),
    /// Git could not do it.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl WorkspaceError {
    /// Returns a function that names the file of an error.
    pub(crate) fn of_file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}
