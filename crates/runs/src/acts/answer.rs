//! Answers a question of a run. The first answer counts.

use pi_subagents_engine::{GivenReply, NotSent, OwnerReply, ToChild, Want};
use pi_subagents_vocabulary::{Question, Reply, Respondent, RunId};

use super::owner::request;
use super::{Addressee, Reach};
use pi_subagents_ground::error::CommandError;

/// A question that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub run: RunId,
    name: String,
}

impl Answered {
    /// Says that the run goes on.
    pub fn sentence(&self) -> String {
        format!("{} has the answer and continues.", self.name)
    }
}

/// Gives the child of a run the answer to its question. An error means that it has not got it: the
/// answer does not fit, or somebody was faster.
pub async fn answer(
    reach: &Reach,
    to: &Addressee,
    question: &Question,
    reply: Reply,
    by: Respondent,
) -> Result<Answered, CommandError> {
    let answered = Answered {
        run: to.run.clone(),
        name: to.shown_name(),
    };
    // What does not fit is refused here, where the question is known.
    question.take(&reply).map_err(not_taken)?;
    let given = GivenReply {
        question: question.id.clone(),
        reply,
        by,
    };
    let what = ToChild::Answer(given);
    if let Some(own) = &reach.own {
        match own.send(to.run.clone(), what.clone()).await {
            Ok(()) => return Ok(answered),
            // Another process owns it.
            Err(NotSent::NotRunning(_)) => {}
            Err(error) => return Err(not_taken(error)),
        }
    }
    let Some(record) = &to.record else {
        return Err(not_taken(format!("run {} is not running", to.run)));
    };
    match request(&reach.places, record, Want::Send(what)).await? {
        OwnerReply::Done | OwnerReply::Ended { .. } => Ok(answered),
        OwnerReply::Refused { message } => Err(not_taken(message)),
    }
}

fn not_taken(why: impl std::fmt::Display) -> CommandError {
    CommandError::failed(format!("the answer was not taken: {why}"))
}
