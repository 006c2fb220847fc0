//! A task for which everything is decided that can be decided before its run is opened.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{
    Gate, Limits, OutputSchema, Program, Refusal, Runner, RunnerChoice, Secret, ToolPolicy,
    UsedDefinition,
};

use super::model::ChosenModel;
use super::place::RunPlace;

/// A resolved task.
pub(crate) struct ResolvedTask {
    /// The directory in which the task works; for a refused task, the directory of its caller.
    pub(crate) cwd: PathBuf,
    /// The definition that the task names, also where it is the reason for a refusal.
    pub(crate) definition: Option<UsedDefinition>,
    pub(crate) timeout: Option<Duration>,
    /// The plan for the child, or the reason why there will be no child.
    pub(crate) work: Result<ResolvedWork, Refusal>,
}

/// The child of a resolved task.
pub(crate) struct ResolvedWork {
    /// The kind of child. For a task of a fleet only its worker knows the kind; until then it
    /// counts as pi, which can do more.
    pub(crate) runner: Runner,
    pub(crate) program: ChosenProgram,
    pub(crate) model: ChosenModel,
    /// The changes by the definition of the task, if there is one.
    pub(crate) patch: Option<PlanPatch>,
    pub(crate) tools: ToolPolicy,
    pub(crate) api_key: Option<Secret>,
    /// The commands that must pass, in their order.
    pub(crate) gates: Vec<Gate>,
    /// The schema that the result must meet.
    pub(crate) schema: Option<OutputSchema>,
    pub(crate) limits: Limits,
    /// The place where the child works.
    pub(crate) place: RunPlace,
    /// True if the child may load the configuration of its directory.
    pub(crate) trusted: bool,
    /// The warning for the caller about the program that was chosen.
    pub(crate) warning: Option<String>,
    /// A warning for the caller about the model that was chosen.
    pub(crate) doubts: Vec<String>,
}

/// The program that does a task.
#[derive(Debug, Clone)]
pub(crate) enum ChosenProgram {
    /// This program, on this machine.
    Here(Program),
    /// The program that a worker of a fleet finds for this choice.
    OnWorker(RunnerChoice),
}

impl ResolvedWork {
    /// Returns whether the child must report with `subagent_finalize`.
    pub(crate) fn must_report(&self) -> bool {
        self.schema.is_some() || self.patch.as_ref().is_some_and(|patch| patch.finalize)
    }
}
