//! The progress of a run, over all its children.

use pi_subagents_vocabulary::{Task, TaskPlan};
use tokio::time::Instant;

use crate::completion::LastAnswer;
use crate::guards::{Deadline, GateAttempts, Repetition, Spending};
use crate::model_check::ModelCheck;
use crate::reports::Reports;
use crate::tool_check::ToolCheck;

/// The state of a run that outlives each of its children.
#[derive(Debug)]
pub(crate) struct RunProgress {
    /// The prompt of the next child.
    pub(crate) prompt: String,
    /// Checks the child's model before it gets the prompt.
    pub(crate) check: Option<ModelCheck>,
    /// Checks the child's tools when it lists them.
    pub(crate) tools: Option<ToolCheck>,
    pub(crate) last_answer: LastAnswer,
    pub(crate) reports: Reports,
    /// Runs from the start of the first child.
    pub(crate) deadline: Option<Deadline>,
    pub(crate) repetition: Repetition,
    pub(crate) spending: Spending,
    pub(crate) gates: GateAttempts,
    /// The number of times that the owner was asked to shut down.
    pub(crate) shutdowns: u32,
}

impl RunProgress {
    /// Begins with the first child, which has just started.
    pub(crate) fn begin(task: &Task, plan: &mut TaskPlan) -> Self {
        Self {
            prompt: first_prompt(plan),
            check: ModelCheck::of(plan),
            tools: ToolCheck::of(plan, task.known_tools.as_ref()),
            last_answer: LastAnswer::default(),
            reports: Reports::new(&plan.work.completion),
            deadline: Deadline::new(Instant::now(), &plan.work.limits),
            repetition: Repetition::new(plan.work.limits.repetitions),
            spending: Spending::new(plan.work.limits.allowance),
            gates: GateAttempts::default(),
            shutdowns: 0,
        }
    }
}

/// Returns the prompt of the first child. Pi takes a prompt that begins with a slash for a command
/// and might never settle; with a newline before it the model reads the same words.
fn first_prompt(plan: &mut TaskPlan) -> String {
    let prompt = std::mem::take(&mut plan.work.prompt);
    if plan.here.runner.reads_slash_commands() && prompt.starts_with('/') {
        return format!("\n{prompt}");
    }
    prompt
}
