//! The progress of a run, over all its children.

use pi_subagents_vocabulary::child_protocol::Dialog;
use pi_subagents_vocabulary::shell_commands::{COMMAND_FITS, COMMAND_QUESTION, CommandForms};
use pi_subagents_vocabulary::{Ending, Task, TaskPlan};
use tokio::time::Instant;

use crate::completion::LastAnswer;
use crate::fallback::ModelLine;
use crate::guards::{Cycles, Deadline, GateAttempts, Pollers, Repetition, Spending, Turns};
use crate::live_child::WrapUp;
use crate::model_check::ModelCheck;
use crate::questions::Questions;
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
    /// The models that are asked one after another, if somebody named any others.
    pub(crate) models: Option<ModelLine>,
    pub(crate) last_answer: LastAnswer,
    pub(crate) reports: Reports,
    /// Runs from the start of the first child.
    pub(crate) deadline: Option<Deadline>,
    pub(crate) repetition: Repetition,
    pub(crate) spending: Spending,
    pub(crate) turns: Turns,
    pub(crate) cycles: Cycles,
    pub(crate) pollers: Pollers,
    /// The last answer without tools, once the run has come to that.
    pub(crate) wrap_up: Option<WrapUp>,
    pub(crate) gates: GateAttempts,
    pub(crate) questions: Questions,
    /// The forms of the only commands that the shell of the child runs.
    pub(crate) commands: Option<CommandForms>,
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
            models: plan.here.fallbacks.as_ref().map(ModelLine::new),
            last_answer: LastAnswer::default(),
            reports: Reports::new(&plan.work.completion),
            deadline: Deadline::new(Instant::now(), &plan.work.limits),
            repetition: Repetition::new(plan.work.limits.repetitions),
            spending: Spending::new(plan.work.limits.allowance)
                .with_share(plan.work.limits.window_share),
            turns: Turns::new(plan.work.limits.turns),
            cycles: Cycles::new(plan.work.limits.repetitions),
            pollers: Pollers::new(&plan.work.pollers),
            wrap_up: None,
            gates: GateAttempts::default(),
            questions: Questions::new(plan.work.questions, plan.here.ask.clone()),
            commands: CommandForms::of(&plan.work.commands),
            shutdowns: 0,
        }
    }
}

impl RunProgress {
    /// Judges the last answer of a child that has settled. A failure names all models that failed
    /// before it.
    pub(crate) fn judge_answer(&self) -> Ending {
        match self.last_answer.judge() {
            Ending::ModelError { message } => Ending::ModelError {
                message: self.with_models(message),
            },
            ending => ending,
        }
    }

    /// Adds the call that was repeated to the ending of a run that was ended for that.
    pub(crate) fn with_evidence(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Looped { times, .. } => Ending::Looped {
                times,
                evidence: self.repetition.evidence(),
            },
            ending => ending,
        }
    }

    /// Adds to the message of a failure which models failed before.
    pub(crate) fn with_models(&self, message: String) -> String {
        match &self.models {
            Some(models) => models.last_words(message),
            None => message,
        }
    }

    /// Returns the answer to a dialog of our own extension that nobody needs to see; `None` for all
    /// others.
    pub(crate) fn answer(&self, dialog: &Dialog) -> Option<String> {
        let command = dialog.title.as_deref()?.strip_prefix(COMMAND_QUESTION);
        match (command, &self.commands) {
            (Some(command), Some(commands)) => Some(match commands.check(command) {
                Ok(()) => COMMAND_FITS.to_owned(),
                Err(refusal) => refusal.to_string(),
            }),
            (Some(_) | None, _) => self.reports.answer(dialog),
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
