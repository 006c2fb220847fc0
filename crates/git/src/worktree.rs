//! Worktrees of runs: made under the lock of the repository, locked while a run works in them, and
//! removed only after their changes have been captured.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, create_directories, is_absent, read_own_text};

use crate::error::WorkspaceError;
use crate::git::words;
use crate::object_id::ObjectId;
use crate::repository::{Repository, read_git_file};

/// The setting that lets git name directories by whole paths, whatever the user likes: they are
/// compared with what was noted.
pub(crate) const ABSOLUTE: &str = "worktree.useRelativePaths=false";

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
        let made = self
            .add(repository)
            .and_then(|()| open_worktree(repository, self.path));
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
        let git = repository.git().clone().patient();
        git.with_setting(ABSOLUTE).run(&arguments)?;
        Ok(())
    }

    fn full_branch(self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// Opens a worktree that was just made, before any child has worked in it. Refuses one whose files
/// are elsewhere, as `core.worktree` can have it: git would lead the child there.
pub(crate) fn open_worktree(
    repository: &Repository,
    path: &Path,
) -> Result<Repository, WorkspaceError> {
    let found = Repository::find(path)?;
    let real = fs::canonicalize(path).map_err(WorkspaceError::of_file(path))?;
    if found.top() != real {
        let words = format!("git takes {} for its files", found.top().display());
        let source = std::io::Error::other(words);
        return Err(WorkspaceError::File { path: real, source });
    }
    let named = read_git_file(path);
    let foreign = || WorkspaceError::ForeignGit {
        path: path.to_owned(),
    };
    repository.worktree(path, &named.ok_or_else(foreign)?)
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

/// Returns whether somebody works in a worktree, by the directory that git keeps for it.
pub fn is_worktree_locked(git_dir: &Path) -> bool {
    git_dir.join("locked").exists()
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
    remove_branch(repository, branch)
}

/// Removes a branch. It is no error if there is none.
pub fn remove_branch(repository: &Repository, branch: &str) -> Result<(), WorkspaceError> {
    let name = format!("refs/heads/{branch}");
    repository
        .git()
        .try_run(&["update-ref", "-d", &name], b"")?;
    Ok(())
}

/// Removes a worktree and its directory, and leaves its branch. Git has no part in it: it would ask
/// the directory what it is, and a child could write there.
pub fn remove_worktree_directory(
    repository: &Repository,
    path: &Path,
) -> Result<(), WorkspaceError> {
    remove_directory(path)?;
    forget_record(repository, path)
}

/// Removes the directory of a worktree, whatever is in it. It is no error if there is none.
pub fn remove_directory(path: &Path) -> Result<(), WorkspaceError> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(());
    };
    let removed = match Directory::open(above) {
        Ok(above) => above.remove_anything(Path::new(name)),
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
    let wanted = [path.join(".git"), real_place(path).join(".git")];
    for record in listed.flatten() {
        let file = record.path().join("gitdir");
        let text = read_own_text(&file, 16 * 1024).unwrap_or_default();
        let named = Path::new(text.trim_end_matches('\n'));
        if wanted.iter().any(|wanted| wanted == named) {
            let above = Directory::open(&records).map_err(WorkspaceError::of_file(&records))?;
            let name = record.file_name();
            above
                .remove_tree(Path::new(&name))
                .map_err(WorkspaceError::of_file(&file))?;
        }
    }
    Ok(())
}

/// Returns a path with the real path of its directory, whether or not there is something.
fn real_place(path: &Path) -> PathBuf {
    let above = path.parent().and_then(|above| fs::canonicalize(above).ok());
    match (above, path.file_name()) {
        (Some(above), Some(name)) => above.join(name),
        (Some(_) | None, _) => path.to_owned(),
    }
}
