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
    /// The directory is inside the directory that git keeps its own files in.
    #[error("{} is in the directory of git itself, which has no files to work on; go to the checkout", directory.display())]
    InsideGit {
        /// The directory.
        directory: PathBuf,
    },
    /// The repository belongs to another user, and nobody has said that it may be used.
    #[error(
        "{repository} belongs to another user, so git does not use it; git config --global --add safe.directory {repository} allows it"
    )]
    NotOwned {
        /// The repository, as git names it.
        repository: String,
    },
    /// Git does not know the name or the address of the user, and makes no commit without them.
    #[error(
        "git does not know who you are; tell it with git config user.name and git config user.email, or merge without --commit"
    )]
    NoIdentity,
    /// There is nothing to begin from.
    #[error("the repository {} has no commit yet; make one first", directory.display())]
    NoCommit {
        /// The repository.
        directory: PathBuf,
    },
    /// A merge, a rebase or a cherry-pick is not finished.
    #[error("{} has unmerged files ({}); finish or abort the merge, rebase or cherry-pick first", directory.display(), names(files))]
    Unmerged {
        /// The checkout.
        directory: PathBuf,
        /// The files, at most ten.
        files: Vec<PathBuf>,
    },
    /// A change touches a file that the checkout leaves out.
    #[error(
        "{} is not in the sparse checkout, so nothing can be merged into it; git sparse-checkout add {} brings it in",
        path.display(), directory(path)
    )]
    Sparse {
        /// The file.
        path: PathBuf,
    },
    /// The `.git` of a worktree is not the file that was written when the worktree was made.
    #[error("the .git of {} is not the one that was made for it, so git is not used there", path.display())]
    ForeignGit {
        /// The worktree.
        path: PathBuf,
    },
    /// A name cannot be part of a ref.
    #[error("\"{name}\" cannot be a part of the name of a ref; use letters, digits, - and _")]
    BadName {
        /// The name.
        name: String,
    },
    /// A name cannot be that of a branch.
    #[error("\"{name}\" cannot be the name of a branch")]
    NoBranchName {
        /// The name.
        name: String,
    },
    /// There is a branch of this name.
    #[error("the branch {name} is there already; choose another name")]
    BranchTaken {
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

fn directory(path: &Path) -> String {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(path).display().to_string()
}

fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}
