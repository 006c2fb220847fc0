//! The part of a run's summary that a window keeps.

use std::collections::BTreeSet;
use std::sync::Arc;

use pi_subagents_vocabulary::{
    Allowance, Ending, Question, RunSummary, Status, StopReason, Task, Timestamp, Usage,
};

/// The part of a run's summary that a window keeps.
///
/// It is not a `RunReport`: that is the whole run, with its answer and its receipt, and is made once.
/// This is copied for every batch of events of every run on a screen, so it holds what a header
/// shows and nothing that can be long, and its strings keep their memory.
#[derive(Debug, Clone, Default)]
pub struct RunFacts {
    /// The task, once it was accepted.
    pub task: Option<Arc<Task>>,
    /// The state of the run.
    pub status: Status,
    /// The time at which the task was accepted.
    pub accepted_at: Option<Timestamp>,
    /// The worker of a fleet that has the run, if one has.
    pub worker: Option<String>,
    /// The time at which the run's first child started.
    pub started_at: Option<Timestamp>,
    /// The time at which the run ended.
    pub ended_at: Option<Timestamp>,
    /// The ending of the run.
    pub ending: Option<Ending>,
    /// The provider that answered.
    pub provider: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The reason why the model stopped last.
    pub stop_reason: Option<StopReason>,
    /// The tokens and the cost of the run.
    pub usage: Usage,
    /// The part of its budgets that it may consume, if it has any.
    pub granted: Option<Allowance>,
    /// True if the run waits for a person.
    pub is_paused: bool,
    /// What it waits for on this machine, as in `waiting for memory`.
    pub shortage: Option<String>,
    /// The number of the child's tools, if the child reported all of them.
    pub tools: Option<usize>,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The gate that is being run, if there is one, and the time at which it began.
    pub gate: Option<(String, Timestamp)>,
    /// The first question that the run waits with.
    pub question: Option<Question>,
    /// The time of its last event.
    pub last_sign: Option<Timestamp>,
}

impl RunFacts {
    /// Copies the facts from a later summary of the same run. Strings keep their memory, since
    /// this is called for every batch of events.
    pub(crate) fn update(&mut self, summary: &RunSummary) {
        self.task.clone_from(&summary.task);
        self.status = summary.status();
        self.accepted_at = summary.accepted_at;
        self.worker.clone_from(&summary.worker);
        self.started_at = summary.started_at;
        self.ended_at = summary.ended_at;
        self.ending.clone_from(&summary.ending);
        self.provider.clone_from(&summary.provider);
        self.model.clone_from(&summary.model);
        self.stop_reason.clone_from(&summary.stop_reason);
        self.usage = summary.usage;
        self.granted = summary.granted;
        self.is_paused = summary.waits_for.is_some() && !summary.lacks_room;
        let shortage = summary.waits_for.as_ref().filter(|_| summary.lacks_room);
        // The reason alone; `status ID` has the figures.
        let shortage = shortage.and_then(|words| words.split(':').next());
        self.shortage = shortage.map(|what| format!("waiting for {what}"));
        self.tools = summary.tools.as_ref().map(BTreeSet::len);
        self.tool_calls = summary.tool_calls;
        let gate = summary.witness.running_gate();
        self.question = summary.questions.open().next().cloned();
        self.gate = gate.map(|(command, began)| (command.to_owned(), began));
    }
}
