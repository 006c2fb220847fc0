//! The files that a session has left in a fleet and that nobody has merged: its next run begins from
//! them, as a session with a worktree goes on in it.

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::wire::{Bundle, SentWorkspace};
use pi_subagents_git::{ObjectId, Pin, Pins, Repository, WorkspaceError, pin, submodule_commit};
use pi_subagents_records::{IndexedRun, runs_of_session};
use pi_subagents_vocabulary::{RunId, Task};

use super::package::{LeftPart, send_left};
use super::sent_files::SentFiles;
use pi_subagents_runs::no_result::has_begun;
use pi_subagents_runs::workspace::{Workspace, WorkspaceResult, WorkspaceState};

/// The files that an earlier run of a session has left.
pub(super) struct LeftFiles {
    run: RunId,
    /// The project, if the run changed it, and its submodules that the run changed.
    parts: Vec<LeftPart>,
    /// True if the caller's files are others than those that the session began from.
    has_changed_since: bool,
}

/// Finds what the last run of a task's session left, unless it was merged or discarded.
pub(super) fn left_files(
    runs: &[IndexedRun],
    task: &Task,
    files: &SentFiles,
    workspace: &SentWorkspace,
) -> Result<Option<LeftFiles>, WorkspaceError> {
    let Some((run, known)) = last_result(runs, task) else {
        return Ok(None);
    };
    let project = files.parts().iter().find(|(path, _)| path.is_empty());
    let Some((_, project)) = project else {
        return Ok(None);
    };
    let Some(left) = &known.left else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for (path, repository) in files.parts() {
        parts.extend(left_part(
            path,
            repository,
            project,
            run.run.as_str(),
            left,
        )?);
    }
    let now = match workspace {
        SentWorkspace::Bundle(bundle) => Some(bundle.commit.as_str()),
        SentWorkspace::Clone(_) | SentWorkspace::Shared(_) | SentWorkspace::None => None,
    };
    let project = parts.iter().find(|part| part.path.is_empty());
    let has_changed_since = project.is_some_and(|part| now != Some(part.base.as_str()));
    Ok((!parts.is_empty()).then(|| LeftFiles {
        run: run.run.clone(),
        parts,
        has_changed_since,
    }))
}

/// Returns what a run left in one repository of its project, if it left anything there.
fn left_part(
    path: &str,
    repository: &Repository,
    project: &Repository,
    run: &str,
    left: &WorkspaceResult,
) -> Result<Option<LeftPart>, WorkspaceError> {
    let pins = Pins::read(repository, run)?;
    let (Some(base), Some(result)) = (pins.base, pins.result) else {
        return Ok(None);
    };
    let is_committed = match ObjectId::parse(&left.result) {
        Some(left) if !path.is_empty() => {
            submodule_commit(project, &left, path)?.as_ref() == Some(&result)
        }
        Some(_) | None => left.left_uncommitted == 0,
    };
    // Files that were left uncommitted are in a commit of their own.
    let head = if is_committed {
        Some(result.clone())
    } else {
        repository.commit_of(&format!("{result}^"))?
    };
    Ok(Some(LeftPart {
        path: path.to_owned(),
        repository: repository.clone(),
        base,
        result,
        head,
    }))
}

/// Returns the last run of a task's session whose result waits, with its result. A run that changed
/// nothing left the files as it found them.
fn last_result(runs: &[IndexedRun], task: &Task) -> Option<(IndexedRun, Workspace)> {
    let of_session = runs_of_session(runs, &task.session);
    let earlier = of_session.into_iter().rev();
    for run in earlier.filter(|run| run.run != task.run && has_begun(run)) {
        // A run on this machine worked in the checkout, or in a worktree that does not travel.
        run.owner.fleet.as_ref()?;
        let Some(workspace) = Workspace::read(run.directory.path()) else {
            continue;
        };
        return match workspace.state {
            WorkspaceState::Unchanged => continue,
            WorkspaceState::Captured if workspace.is_of(&task.cwd) => Some((run, workspace)),
            WorkspaceState::Captured
            | WorkspaceState::Planned
            | WorkspaceState::Ready
            | WorkspaceState::Uncaptured
            | WorkspaceState::Merged
            | WorkspaceState::Discarded => None,
        };
    }
    None
}

impl LeftFiles {
    /// Makes a workspace begin from them, if they can travel with it. Returns the words for the
    /// caller about what the run begins from.
    pub(super) async fn send(
        &self,
        fleet: &Fleet,
        workspace: &mut SentWorkspace,
    ) -> Result<Option<String>, String> {
        let run = &self.run;
        match workspace {
            SentWorkspace::Bundle(bundle) => {
                for part in &self.parts {
                    if let Some(bundle) = bundle_of(bundle, &part.path) {
                        let sent = send_left(fleet, part, bundle).await;
                        sent.map_err(|error| error.sentence())?;
                    }
                }
                let since = if self.has_changed_since {
                    ", without what you changed since"
                } else {
                    ""
                };
                Ok(Some(format!(
                    "it begins from the unmerged result of run {run}{since}"
                )))
            }
            SentWorkspace::Clone(_) => Ok(Some(format!(
                "it begins without the unmerged result of run {run}: with --workspace clone only pushed commits are sent"
            ))),
            SentWorkspace::Shared(_) | SentWorkspace::None => Ok(None),
        }
    }

    /// Keeps for a run what it began from, and what its changes are compared with.
    pub(super) fn keep_for(&self, run: &RunId, workspace: &SentWorkspace) {
        if !matches!(workspace, SentWorkspace::Bundle(_)) {
            return;
        }
        for part in &self.parts {
            let kept = pin(&part.repository, run.as_str(), Pin::Base, &part.base);
            // Without them its changes are shown and merged apart from those of the earlier run.
            _ = kept.and_then(|()| pin(&part.repository, run.as_str(), Pin::Begin, &part.result));
        }
    }
}

fn bundle_of<'a>(bundle: &'a mut Bundle, path: &str) -> Option<&'a mut Bundle> {
    if path.is_empty() {
        return Some(bundle);
    }
    let mut submodules = bundle.submodules.iter_mut();
    let found = submodules.find(|submodule| submodule.path == path)?;
    Some(&mut found.bundle)
}
