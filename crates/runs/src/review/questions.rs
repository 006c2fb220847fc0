//! Questions of sub-agents that wait for a person. They come first in the queue, because a run stands
//! still until somebody answers.

use std::path::Path;

use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{Question, RunId};

use crate::inbox::open_questions;
use crate::known_index::KnownIndex;

/// A question that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingQuestion {
    pub run: RunId,
    /// The name of its task.
    pub name: String,
    /// The words of the question, on one line.
    pub question: String,
    /// The question itself.
    pub asked: Question,
    /// True if the run was parked: an answer continues it.
    pub is_parked: bool,
}

/// Lists the questions of the runs of a project, oldest first.
pub(super) fn waiting_questions(index: &KnownIndex, project: &Path) -> Vec<WaitingQuestion> {
    // An index that cannot be read is reported by whoever lists the runs.
    let open = open_questions(index).unwrap_or_default().into_iter();
    let here = open.filter(|one| one.run.project == project);
    here.map(|one| WaitingQuestion {
        run: one.run_id,
        name: one.name,
        question: one_line(&clean(&one.asked.question.text)),
        is_parked: one.parked,
        asked: one.asked.question,
    })
    .collect()
}
