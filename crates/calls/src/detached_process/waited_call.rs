//! A call that a detached process does, as the waiter for its answer sees it.

use pi_subagents_engine::KnownChildren;

use super::order::{AnsweredCall, BegunRun, DetachedOrder, Reply};
use super::start::{DetachedProcess, ended_early};
use crate::progress::CallProgress;
use crate::questions::RunQuestion;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::QuestionId;

/// A call that another process does. It ends when this is dropped, unless it was let go on.
pub struct WaitedCall {
    process: DetachedProcess,
    runs: Vec<BegunRun>,
}

/// A reply of the detached process while its caller waits.
pub enum WaitedReply {
    Progress(CallProgress),
    /// A run asks something that a person is to see.
    Asked(Box<RunQuestion>),
    Answered(AnsweredCall),
}

impl WaitedCall {
    /// Returns when its runs have a process of their own, or when they will not.
    pub async fn start(
        order: &DetachedOrder,
        places: &Places,
        known_children: &KnownChildren,
    ) -> Result<Self, CommandError> {
        let mut process = DetachedProcess::start(order, places, known_children).await?;
        match process.reply().await? {
            Some(Reply::Begun(runs)) => Ok(Self { process, runs }),
            Some(Reply::Refused(error)) => Err(error),
            Some(
                Reply::TakenOver(_) | Reply::Progress(_) | Reply::Asked(_) | Reply::Answered(_),
            )
            | None => Err(ended_early()),
        }
    }

    /// Returns the runs of the call, in the order of its tasks.
    pub fn runs(&self) -> &[BegunRun] {
        &self.runs
    }

    /// Returns the next progress or the answer. Nothing is lost if this is not waited for to its
    /// end.
    pub async fn next(&mut self) -> Result<WaitedReply, CommandError> {
        match self.process.reply().await? {
            Some(Reply::Progress(told)) => Ok(WaitedReply::Progress(CallProgress {
                finished: told.finished,
                total: told.total,
                message: told.message,
            })),
            Some(Reply::Asked(asked)) => Ok(WaitedReply::Asked(asked)),
            Some(Reply::Answered(answer)) => Ok(WaitedReply::Answered(answer)),
            Some(Reply::Refused(error)) => Err(error),
            Some(Reply::TakenOver(_) | Reply::Begun(_)) | None => {
                let ids: Vec<&str> = self.runs.iter().map(|run| &*run.run).collect();
                Err(CommandError::failed(format!(
                    "the background process of this call ended without an answer (runs: {})",
                    ids.join(", ")
                )))
            }
        }
    }

    /// Lets it go on when this is dropped.
    pub async fn go_on(&mut self) {
        self.process.go_on().await;
    }

    /// Lets this many of its runs work at once, if its order says that it is given places.
    pub async fn give_places(&mut self, number: usize) {
        self.process.give_places(number).await;
    }

    /// Leaves a question to others: the person at the door does not answer it now.
    pub async fn put_aside(&mut self, question: &QuestionId) {
        self.process.put_aside(question).await;
    }

    /// Asks for its early end, after which it still answers.
    pub async fn stop(&mut self) {
        self.process.stop().await;
    }
}
