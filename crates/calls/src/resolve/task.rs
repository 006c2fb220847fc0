//! A task for which everything is decided that can be decided before its run is opened.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{
    Fallbacks, Refusal, RunBudgets, RunTerms, Runner, Secret, SessionId, UsedDefinition, Work,
};

use super::place::RunPlace;
use super::sandbox::SandboxOrigin;
use crate::open_run::Inherited;
use crate::request::TaskRequest;

/// A task that is to be resolved.
#[derive(Debug, Clone)]
pub(crate) struct RequestedTask {
    /// The request, with the name of its run.
    pub(crate) request: TaskRequest,
    /// The session to which its run belongs.
    pub(crate) session: SessionId,
    /// The terms and the worktree that it inherits from the run that it continues.
    pub(crate) inherited: Option<Inherited>,
}

/// A resolved task.
pub struct ResolvedTask {
    pub(crate) request: TaskRequest,
    pub(crate) session: SessionId,
    /// The directory in which the task works; for a refused task, the directory of its caller.
    pub cwd: PathBuf,
    /// The definition that the task names, also where it is the reason for a refusal.
    pub definition: Option<UsedDefinition>,
    pub timeout: Option<Duration>,
    /// The terms that were set for the task, which the next run of its session inherits.
    pub terms: RunTerms,
    /// The plan for the child, or the reason why there will be no child.
    pub work: Result<ResolvedWork, Refusal>,
}

/// A resolved task that can be done.
pub struct ResolvedWork {
    /// The part that holds on every machine. Until its run is opened, its prompt is the caller's.
    pub work: Work,
    /// The part that belongs to this machine.
    pub here: FoundHere,
}

/// The parts of a resolved task that belong to this machine.
pub struct FoundHere {
    /// The kind of child. For a task of a fleet only its worker knows the kind; until then it
    /// counts as pi, which can do more.
    pub runner: Runner,
    /// The model as it was asked for.
    pub requested_model: Option<String>,
    /// The model as provider/id, if it is known.
    pub resolved_model: Option<String>,
    /// The changes by the definition of the task, if there is one.
    pub patch: Option<PlanPatch>,
    /// The files of the skills that are offered to the child.
    pub skills: Vec<PathBuf>,
    /// The models that may take over, if somebody named any.
    pub fallbacks: Option<Fallbacks>,
    /// The key of the definition, if it is for the chosen model.
    pub api_key: Option<Secret>,
    /// The budgets in which the run counts.
    pub budgets: RunBudgets,
    /// The place where the child works.
    pub place: RunPlace,
    /// The reason for its sandbox.
    pub sandbox_origin: SandboxOrigin,
    /// The warning for the caller about the program that was chosen.
    pub warning: Option<String>,
    /// Warnings for the caller about the model that was chosen.
    pub doubts: Vec<String>,
}
