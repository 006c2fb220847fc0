//! The place where a run works: the directory of its task, or a worktree.

use std::fmt::Display;
use std::path::Path;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_git::{ObjectId, Repository, WorkspaceError, demand_git};
use pi_subagents_vocabulary::{BaseChoice, Isolation, Refusal, RunTerms};

use super::task::RequestedTask;
use crate::caller::Overrides;
use pi_subagents_runs::workspace::EarlierWorktree;

/// The place of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPlace {
    /// The directory of the task itself.
    Checkout,
    /// A git worktree of its own.
    Worktree {
        /// The state that it begins from if it is new.
        base: BaseChoice,
        /// The worktree of an earlier run, in which this one goes on.
        earlier: Option<Box<EarlierWorktree>>,
    },
}

/// Decides where a run works: what the task says counts before the call, that before the definition,
/// and that before the setting. A session that had a worktree goes on in it.
pub(super) fn place_of(
    task: &RequestedTask,
    terms: &RunTerms,
    overrides: &Overrides,
    patch: Option<&PlanPatch>,
    setting: Isolation,
    cwd: &Path,
) -> Result<RunPlace, Refusal> {
    let inherited = task.inherited.as_ref();
    let inherited = inherited.and_then(|inherited| inherited.worktree.as_ref());
    let earlier = overrides.worktree.as_ref().or(inherited);
    let earlier = earlier.filter(|earlier| earlier.workspace.is_of(cwd));
    let isolation = terms
        .isolation
        .or(earlier.map(|_| Isolation::Worktree))
        .or(patch.and_then(|patch| patch.definition.isolation))
        .unwrap_or(setting);
    let base = task.request.base.as_ref().or(overrides.base.as_ref());
    match (isolation, base) {
        (Isolation::None, None) => Ok(RunPlace::Checkout),
        (Isolation::None, Some(base)) => Err(Refusal {
            message: format!(
                "base is {}, and the sub-agent has no worktree that could begin from it; set \
                 isolation to worktree, or leave base out",
                base.as_str()
            ),
        }),
        (Isolation::Worktree, base) => Ok(RunPlace::Worktree {
            base: base.cloned().unwrap_or_default(),
            earlier: earlier.cloned().map(Box::new),
        }),
    }
}

/// Refuses a task whose worktree cannot be made from what is there, before anything is made for it.
pub(super) fn check_place(place: &RunPlace, cwd: &Path) -> Result<(), Refusal> {
    match place {
        RunPlace::Worktree {
            base,
            earlier: None,
        } => check_base(base, cwd).map_err(|error| no_worktree(&error)),
        // What an earlier run left is looked at when its worktree is planned.
        RunPlace::Worktree {
            earlier: Some(_), ..
        }
        | RunPlace::Checkout => Ok(()),
    }
}

fn check_base(base: &BaseChoice, cwd: &Path) -> Result<(), WorkspaceError> {
    demand_git()?;
    let repository = Repository::find(cwd)?;
    repository.demand_head()?;
    match base {
        BaseChoice::Working | BaseChoice::Head => Ok(()),
        BaseChoice::Revision(revision) => commit_of_base(&repository, revision).map(drop),
    }
}

/// Returns the commit that a worktree begins from.
pub(crate) fn commit_of_base(
    repository: &Repository,
    revision: &str,
) -> Result<ObjectId, WorkspaceError> {
    let found = repository.commit_of(revision)?;
    found.ok_or_else(|| WorkspaceError::File {
        path: repository.top().to_owned(),
        source: std::io::Error::other(format!(
            "there is no branch, tag or commit \"{revision}\" here"
        )),
    })
}

/// Refuses a task because its worktree cannot be made: it never works in its caller's checkout
/// instead.
pub(crate) fn no_worktree(why: &dyn Display) -> Refusal {
    Refusal {
        message: format!("Its worktree could not be made: {why}"),
    }
}
