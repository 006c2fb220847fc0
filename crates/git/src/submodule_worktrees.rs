//! The submodules of a worktree: each is a worktree of the submodule that the checkout has. Nothing is
//! cloned and no network is used, and what a child commits in one is in the repository of the
//! submodule at once.

use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::words;
use crate::object_id::ObjectId;
use crate::repository::Repository;
use crate::snapshot::is_dirty;
use crate::submodules::{DEEPEST, gitlinks, open, parts};
use crate::worktree::{ABSOLUTE, forget_record, open_worktree, remove_worktree_directory};

/// A submodule of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeSubmodule {
    /// Its place below the top of the worktree.
    pub path: PathBuf,
    /// The commit that it began with.
    pub base: ObjectId,
    /// The directory that git keeps for it, in the repository of the submodule.
    pub git_dir: PathBuf,
}

/// The submodules that a worktree has got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSubmodules {
    /// The submodules that are there, each before those inside it.
    pub added: Vec<WorktreeSubmodule>,
    /// Sentences about what is missing.
    pub notes: Vec<String>,
}

/// Gives a new worktree the submodules that the checkout has, and those inside them. A submodule
/// that cannot be had is named, and its directory stays empty.
pub fn add_submodules(
    checkout: &Repository,
    worktree: &Repository,
    reason: &str,
) -> Result<AddedSubmodules, WorkspaceError> {
    let mut added = AddedSubmodules::default();
    add_inside(
        checkout,
        worktree,
        Path::new(""),
        reason,
        DEEPEST,
        &mut added,
    )?;
    Ok(added)
}

/// Names the submodules that a new worktree has not got.
pub fn name_submodules(worktree: &Repository) -> Result<Vec<String>, WorkspaceError> {
    let links = gitlinks(worktree)?.into_iter();
    Ok(links.map(|(name, _)| empty(&name, "")).collect())
}

fn add_inside(
    checkout: &Repository,
    worktree: &Repository,
    at: &Path,
    reason: &str,
    depth: usize,
    added: &mut AddedSubmodules,
) -> Result<(), WorkspaceError> {
    if depth == 0 {
        return Ok(());
    }
    for (name, commit) in gitlinks(worktree)? {
        let path = at.join(&name);
        let Some(module) = open(checkout.top(), &name) else {
            added
                .notes
                .push(empty(&path, ": the checkout has not got it either"));
            continue;
        };
        match add_one(&module, &worktree.top().join(&name), &commit, reason) {
            Ok(submodule) => {
                if is_dirty(&module)? {
                    let path = path.display();
                    let note = format!("uncommitted changes in the submodule {path} are not here");
                    added.notes.push(note);
                }
                added.added.push(WorktreeSubmodule {
                    path: path.clone(),
                    base: commit,
                    git_dir: submodule.git_dir().to_owned(),
                });
                add_inside(&module, &submodule, &path, reason, depth - 1, added)?;
            }
            Err(error) => added.notes.push(empty(&path, &format!(": {error}"))),
        }
    }
    Ok(())
}

fn empty(path: &Path, why: &str) -> String {
    format!("the submodule {} is empty here{why}", path.display())
}

fn add_one(
    module: &Repository,
    path: &Path,
    commit: &ObjectId,
    reason: &str,
) -> Result<Repository, WorkspaceError> {
    let options = [
        "worktree", "add", "--quiet", "--detach", "--lock", "--reason",
    ];
    let mut arguments = words(&options);
    arguments.extend(words(&[reason]));
    arguments.push(path.as_os_str());
    arguments.push(commit.as_str().as_ref());
    let git = module.git().clone().patient();
    git.with_setting(ABSOLUTE).run(&arguments)?;
    let made = open_worktree(module, path);
    if made.is_err() {
        remove_worktree_directory(module, path)?;
    }
    made
}

/// Opens a submodule of a worktree, in a directory that a child could write to.
pub fn open_submodule(
    checkout: &Repository,
    worktree: &Path,
    submodule: &WorktreeSubmodule,
) -> Result<Repository, WorkspaceError> {
    let WorktreeSubmodule { path, git_dir, .. } = submodule;
    let module = open(checkout.top(), path).ok_or_else(|| {
        let source = std::io::Error::other("the checkout has not got this submodule any more");
        let path = path.clone();
        WorkspaceError::File { path, source }
    })?;
    module.worktree(&worktree.join(path), git_dir)
}

/// Lets the repositories of submodules forget those of a worktree, whose directory is gone.
pub fn forget_submodules(checkout: &Repository, worktree: &Path) -> Result<(), WorkspaceError> {
    for part in parts(checkout)?.iter().skip(1) {
        forget_record(&part.repository, &worktree.join(&part.path))?;
    }
    Ok(())
}
