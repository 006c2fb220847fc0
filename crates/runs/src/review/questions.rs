//! Questions of sub-agents that wait for a person. They come first in the queue, because a run stands
//! still until somebody answers.

use pi_subagents_vocabulary::{RunId, Timestamp};

use pi_subagents_ground::places::Places;

/// A question that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingQuestion {
    pub run: RunId,
    /// The name of its task.
    pub name: String,
    /// The words of the question.
    pub question: String,
    /// The time at which it was asked.
    pub asked_at: Timestamp,
}

/// Lists the questions of the runs of a project, oldest first. No run can ask one yet.
pub(super) fn waiting_questions(_places: &Places) -> Vec<WaitingQuestion> {
    Vec::new()
}
