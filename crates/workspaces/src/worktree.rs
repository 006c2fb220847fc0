//! Worktrees of runs: made under the lock of the repository, locked while a run works in them, and
//! removed only after their changes have been captured.

use std::fs;
use std::path::Path;

use pi_subagents_files::{Directory, create_directories, is_absent, read_own_text, write_whole};

use crate::error::WorkspaceError;
use crate::git::{strange, words};
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// The file in the git directory of a worktree that names the commit it began from.
const BASE_FILE: &str = "pi-subagents-base";

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
        let above = self.path.parent().unwrap_or(self.path);
        create_directories(above).map_err(WorkspaceError::of_file(above))?;
        let made = self.add(repository).and_then(|()| self.check());
        if made.is_err() && repository.commit_of(&self.full_branch()).is_ok() {
            // The first error names the fault.
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

    /// Refuses a worktree whose files are elsewhere, as `core.worktree` can have it.
    fn check(self) -> Result<Repository, WorkspaceError> {
        let worktree = Repository::find(self.path)?;
        let path = fs::canonicalize(self.path).map_err(WorkspaceError::of_file(self.path))?;
        if worktree.top() == path {
            self.note_base(&worktree)?;
            return Ok(worktree);
        }
        let words = format!("git takes {} for its files", worktree.top().display());
        let source = std::io::Error::other(words);
        Err(WorkspaceError::File { path, source })
    }

    /// Writes down the base, for later runs in this worktree.
    fn note_base(self, worktree: &Repository) -> Result<(), WorkspaceError> {
        let file = worktree.git_dir().join(BASE_FILE);
        let text = format!("{}\n", self.base);
        write_whole(&file, text.as_bytes()).map_err(WorkspaceError::of_file(&file))
    }

    fn full_branch(self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// Returns the commit that a worktree of a run began from; `None` for any other checkout.
pub fn base_of_worktree(checkout: &Repository) -> Option<ObjectId> {
    let text = read_own_text(&checkout.git_dir().join(BASE_FILE), 128).ok()?;
    ObjectId::parse(text.trim_end())
}

/// Returns the checkout that a repository was made with. All others are its worktrees.
pub fn main_checkout(repository: &Repository) -> Result<std::path::PathBuf, WorkspaceError> {
    let arguments = ["worktree", "list", "--porcelain", "-z"];
    let printed = repository.git().run(&arguments)?;
    let first = entries(&printed)
        .next()
        .and_then(|entry| entry.strip_prefix(b"worktree "));
    let found = first.ok_or_else(|| strange(&arguments, &printed))?;
    Ok(path(found).to_owned())
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
    let options = ["worktree", "remove", "--force", "--force"];
    let mut arguments = words(&options);
    arguments.push(path.as_os_str());
    repository.git().try_run(&arguments, b"")?;
    remove_directory(path)?;
    forget_record(repository, path)?;
    let name = format!("refs/heads/{branch}");
    repository
        .git()
        .try_run(&["update-ref", "-d", &name], b"")?;
    Ok(())
}

/// Removes the leftovers of git in a directory.
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

/// Lets git forget a worktree whose directory is gone. Only this worktree: others of the user may
/// be on a disk that is not there now.
fn forget_record(repository: &Repository, path: &Path) -> Result<(), WorkspaceError> {
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
