//! A task for which everything is decided that can be decided before its run is opened.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{
    Gate, Limits, OutputSchema, Refusal, RunTerms, Runner, RunnerChoice, Secret, ToolPolicy,
    UsedDefinition,
};

use super::asked::Asked;
use super::model::ChosenModel;
use super::place::RunPlace;

/// A resolved task.
pub struct ResolvedTask {
    pub(crate) asked: Asked,
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

/// The child of a resolved task.
pub struct ResolvedWork {
    /// The kind of child. For a task of a fleet only its worker knows the kind; until then it
    /// counts as pi, which can do more.
    pub runner: Runner,
    /// The kind that was wished for, by which a worker finds its own program.
    pub choice: RunnerChoice,
    pub model: ChosenModel,
    /// The changes by the definition of the task, if there is one.
    pub patch: Option<PlanPatch>,
    pub tools: ToolPolicy,
    pub api_key: Option<Secret>,
    /// The commands that must pass, in their order.
    pub gates: Vec<Gate>,
    /// The schema that the result must meet.
    pub schema: Option<OutputSchema>,
    pub limits: Limits,
    /// The place where the child works.
    pub place: RunPlace,
    /// True if the child may load the configuration of its directory.
    pub trusted: bool,
    /// The warning for the caller about the program that was chosen.
    pub warning: Option<String>,
    /// A warning for the caller about the model that was chosen.
    pub doubts: Vec<String>,
}

impl ResolvedWork {
    /// Returns whether the child must report with `subagent_finalize`.
    pub fn must_report(&self) -> bool {
        self.schema.is_some()
            || self
                .patch
                .as_ref()
                .is_some_and(|patch| patch.definition.finalize)
    }
}
