//! Gives the child of a run a message before its next turn.

use pi_subagents_engine::{NotRunning, NotSent, OwnerReply, ToChild, Want};
use pi_subagents_vocabulary::RunId;

use super::owner::request;
use super::{Addressee, Reach};
use pi_subagents_ground::error::CommandError;

/// A run whose child has a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steered {
    pub run: RunId,
    name: String,
}

impl Steered {
    /// Says when the message is read.
    pub fn sentence(&self) -> String {
        format!("{} reads it before its next turn.", self.name)
    }
}

/// Gives the child of a run a message. An error means that it has not got it.
pub async fn steer(
    reach: &Reach,
    to: &Addressee,
    message: String,
) -> Result<Steered, CommandError> {
    let steered = Steered {
        run: to.run.clone(),
        name: to.shown_name(),
    };
    if let Some(own) = &reach.own {
        let what = ToChild::Message(message.clone());
        match own.send(to.run.clone(), what).await {
            Ok(()) => return Ok(steered),
            // Another process owns it.
            Err(NotSent::NotRunning(_)) => {}
            Err(error) => return Err(not_arrived(&error.to_string())),
        }
    }
    let Some(record) = &to.record else {
        return Err(not_arrived(&NotRunning(to.run.clone()).to_string()));
    };
    match request(&reach.places, record, Want::Send(ToChild::Message(message))).await? {
        OwnerReply::Done | OwnerReply::Ended { .. } => Ok(steered),
        OwnerReply::Refused { message } => Err(not_arrived(&message)),
    }
}

fn not_arrived(why: &str) -> CommandError {
    CommandError::failed(format!("the message did not arrive: {why}"))
}
