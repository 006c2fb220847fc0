//! Removes worktrees that nobody has looked at for a week, and lets go of what was merged or discarded
//! a month ago. A result that nobody has merged or discarded stays in git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use pi_subagents_git::{LargeUntracked, Repository, WorkspaceError, unpin_expired};
use pi_subagents_records::{IndexedRun, RunState};
use pi_subagents_vocabulary::{RunId, Timestamp};

use super::{Workspace, WorkspaceState, settle};

/// A directory goes when its run ended longer ago than this.
const DIRECTORY_AGE: Duration = Duration::from_hours(24 * 7);

/// A merged or discarded result can be found for so long.
const PIN_AGE: Duration = Duration::from_hours(24 * 30);

/// The outcome of a look at all worktrees.
#[derive(Debug, Default)]
pub struct Pruned {
    /// The runs whose directories were removed, with their names; their results wait in git.
    pub directories: Vec<(RunId, String)>,
    /// The runs of which nothing is kept any more.
    pub forgotten: Vec<String>,
    pub problems: Vec<String>,
}

/// Removes what is old among the worktrees of some runs.
pub fn prune(runs: &[IndexedRun], now: Timestamp) -> Pruned {
    let mut pruned = Pruned::default();
    let mut repositories = BTreeSet::new();
    let mut latest = BTreeMap::new();
    for run in runs {
        if let Some(workspace) = Workspace::read(run.directory.path()) {
            repositories.insert(workspace.repository);
            if let Some(worktree) = workspace.worktree {
                // The latest run that worked in a directory decides about it.
                latest.insert(worktree.path, run);
            }
        }
    }
    for run in latest.into_values() {
        match prune_directory(run, now) {
            Ok(true) => {
                let name = run.name.clone();
                pruned.directories.push((run.run.clone(), name));
            }
            Ok(false) => {}
            Err(error) => pruned.problems.push(format!("{}: {error}", run.run)),
        }
    }
    for repository in &repositories {
        pruned.forget(repository);
    }
    pruned
}

impl Pruned {
    fn forget(&mut self, repository: &Path) {
        // A checkout that is not there now may be on a disk that comes back.
        let Ok(found) = Repository::find(repository) else {
            return;
        };
        match unpin_expired(&found, PIN_AGE) {
            Ok(runs) => self.forgotten.extend(runs),
            Err(error) => {
                let repository = repository.display();
                self.problems.push(format!("{repository}: {error}"));
            }
        }
    }
}

/// Removes the directory of an old worktree, after it was captured once more.
fn prune_directory(run: &IndexedRun, now: Timestamp) -> Result<bool, WorkspaceError> {
    let RunState::Over { at, .. } = run.state else {
        return Ok(false);
    };
    let Some(mut workspace) = settle(run.directory.path(), &run.run) else {
        return Ok(false);
    };
    let ended = at.max(run.accepted_at);
    let age = Duration::try_from(now.duration_since(ended)).unwrap_or_default();
    let is_old = workspace.state == WorkspaceState::Captured && age >= DIRECTORY_AGE;
    let worktree = workspace.worktree.clone();
    let Some(worktree) = worktree.filter(|one| is_old && !workspace.is_kept && one.path.is_dir())
    else {
        return Ok(false);
    };
    if worktree.is_locked() {
        return Ok(false);
    }
    let large = LargeUntracked::LeftOut;
    workspace.capture_again(&worktree, run.directory.path(), &run.run, large)?;
    if !workspace.left_out.is_empty() {
        // The directory is the only place that has them.
        _ = workspace.write(run.directory.path());
        return Ok(false);
    }
    let repository = workspace.checkout()?.locked()?;
    worktree.remove(&repository)?;
    // The directory is gone, whether or not this can be written down.
    _ = workspace.write(run.directory.path());
    Ok(true)
}
