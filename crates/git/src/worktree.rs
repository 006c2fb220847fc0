//! Worktrees of runs: made under the lock of the repository, locked while a run works in them, and
//! removed only after their changes have been captured.

use std::fs;
use std::path::Path;

use pi_subagents_files::{Directory, create_directories, is_absent, read_own_text};

use crate::error::WorkspaceError;
use crate::git::words;
use crate::object_id::ObjectId;
use crate::repository::Repository;

/// A worktree for one run.
#[derive(Debug, Clone, Copy)]
pub struct NewWorktree<'a> {
    /// The directory in which it is made; nothing may be there.
    pub path: &'a Path,
    /// Its branch, which must be new.
    pub branch: &'a str,
    /// The state that it begins from.
    pub base: &'a ObjectId,
    /// The run that works in it, shown to people who list worktrees.
    pub reason: &'a str,
}

impl NewWorktree<'_> {
    /// Makes the worktree. If that fails, its parts are removed.
    pub fn make(self, repository: &Repository) -> Result<Repository, WorkspaceError> {
        refuse_occupied(self.path)?;
        if repository.commit_of(&self.full_branch())?.is_some() {
            let words = format!("the branch {} is there already", self.branch);
            let (path, source) = (self.path.to_owned(), std::io::Error::other(words));
            return Err(WorkspaceError::File { path, source });
        }
        let above = self.path.parent().unwrap_or(self.path);
        create_directories(above).map_err(WorkspaceError::of_file(above))?;
        let made = self.add(repository).and_then(|()| open_worktree(self.path));
        if made.is_err() {
            // The first error says what is wrong.
            _ = remove_worktree(repository, self.path, self.branch);
        }
        made
    }

    fn add(self, repository: &Repository) -> Result<(), WorkspaceError> {
        let options = [
            "worktree",
            "add",
            "--quiet",
            "--no-track",
            "--lock",
            "--reason",
        ];
        let mut arguments = words(&options);
        arguments.extend(words(&[self.reason, "-b", self.branch]));
        arguments.push(self.path.as_os_str());
        arguments.push(self.base.as_str().as_ref());
        repository.git().run(&arguments)?;
        Ok(())
    }

    fn full_branch(self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// Opens a worktree that was just made. Refuses one whose files are elsewhere, as `core.worktree` can
/// have it.
pub(crate) fn open_worktree(path: &Path) -> Result<Repository, WorkspaceError> {
    let worktree = Repository::find(path)?;
    let path = fs::canonicalize(path).map_err(WorkspaceError::of_file(path))?;
    if worktree.top() == path {
        return Ok(worktree);
    }
    let words = format!("git takes {} for its files", worktree.top().display());
    let source = std::io::Error::other(words);
    Err(WorkspaceError::File { path, source })
}

/// Refuses a place where something is: it would be removed if the worktree could not be made.
fn refuse_occupied(path: &Path) -> Result<(), WorkspaceError> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let source = std::io::Error::other("something is there already");
    let path = path.to_owned();
    Err(WorkspaceError::File { path, source })
}

/// Lets a worktree be removed: nobody works in it any more. It is no error if the worktree is gone.
pub fn unlock_worktree(repository: &Repository, path: &Path) -> Result<(), WorkspaceError> {
    let arguments = ["worktree".as_ref(), "unlock".as_ref(), path.as_os_str()];
    repository.git().try_run(&arguments, b"")?;
    Ok(())
}

/// Returns whether somebody works in a worktree: it is there and locked.
pub fn is_worktree_locked(path: &Path) -> bool {
    let worktree = Repository::find(path).ok();
    worktree.is_some_and(|worktree| worktree.git_dir().join("locked").exists())
}

/// Locks a worktree again: somebody works in it.
pub fn lock_worktree(
    repository: &Repository,
    path: &Path,
    reason: &str,
) -> Result<(), WorkspaceError> {
    let options = ["worktree", "lock", "--reason", reason];
    let mut arguments = words(&options);
    arguments.push(path.as_os_str());
    repository.git().try_run(&arguments, b"")?;
    Ok(())
}

/// Removes a worktree, its directory and its branch, in whatever state they are. Its changes must
/// have been captured before.
pub fn remove_worktree(
    repository: &Repository,
    path: &Path,
    branch: &str,
) -> Result<(), WorkspaceError> {
    remove_worktree_directory(repository, path)?;
    let name = format!("refs/heads/{branch}");
    repository
        .git()
        .try_run(&["update-ref", "-d", &name], b"")?;
    Ok(())
}

/// Removes a worktree and its directory, and leaves its branch.
pub fn remove_worktree_directory(
    repository: &Repository,
    path: &Path,
) -> Result<(), WorkspaceError> {
    let options = ["worktree", "remove", "--force", "--force"];
    let mut arguments = words(&options);
    arguments.push(path.as_os_str());
    repository.git().try_run(&arguments, b"")?;
    remove_directory(path)?;
    forget_record(repository, path)
}

/// Removes what git has left of a directory.
fn remove_directory(path: &Path) -> Result<(), WorkspaceError> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(());
    };
    let removed = match Directory::open(above) {
        Ok(above) if above.has(Path::new(name)).unwrap_or(false) => {
            above.remove_tree(Path::new(name))
        }
        Ok(_) => Ok(()),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(WorkspaceError::of_file(path))
}

/// Lets git forget a worktree whose directory is gone. Only this one: other worktrees of the user
/// may be on a disk that is not there now.
pub(crate) fn forget_record(repository: &Repository, path: &Path) -> Result<(), WorkspaceError> {
    let records = repository.common_dir().join("worktrees");
    let Ok(listed) = fs::read_dir(&records) else {
        return Ok(());
    };
    let wanted = path.join(".git");
    for record in listed.flatten() {
        let file = record.path().join("gitdir");
        let text = read_own_text(&file, 16 * 1024).unwrap_or_default();
        if Path::new(text.trim_end_matches('\n')) == wanted {
            let above = Directory::open(&records).map_err(WorkspaceError::of_file(&records))?;
            let name = record.file_name();
            above
                .remove_tree(Path::new(&name))
                .map_err(WorkspaceError::of_file(&file))?;
        }
    }
    Ok(())
}
