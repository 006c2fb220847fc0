//! What others send to the child of a run: one request for all of it, through every layer.

use pi_subagents_vocabulary::{QuestionId, Reply, ReplyProblem, Respondent, RunId};
use serde::{Deserialize, Serialize};

use crate::request::NotRunning;

/// Something for the child of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToChild {
    /// A message, which its model reads before its next turn.
    Message(String),
    /// The answer to one of its questions.
    Answer(GivenReply),
}

/// An answer that somebody gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenReply {
    /// The question.
    pub question: QuestionId,
    /// The answer.
    pub reply: Reply,
    /// Who answers.
    pub by: Respondent,
}

/// The reason why something did not reach a child.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// The owner has no such run, or not any more.
    #[error(transparent)]
    NotRunning(#[from] NotRunning),
    /// The run waits for a free place.
    #[error("run {0} has not started yet")]
    NotStarted(RunId),
    /// The child has settled or is being stopped.
    #[error("run {0} is about to end")]
    Ending(RunId),
    /// The run did not ask this.
    #[error("run {run} has not asked a question {question}")]
    NoSuchQuestion {
        /// The run.
        run: RunId,
        /// The question.
        question: QuestionId,
    },
    /// Somebody was faster, or the time of the question has passed.
    #[error("question {question} is answered already: {how}")]
    AnsweredAlready {
        /// The question.
        question: QuestionId,
        /// What became of it.
        how: String,
    },
    /// The question wants a person.
    #[error("question {0} is for a person, and no model may answer it")]
    ForPersons(QuestionId),
    /// The answer is no answer to this question.
    #[error(transparent)]
    NoAnswer(#[from] ReplyProblem),
}
