//! The requests and replies on an owner's socket.

use pi_subagents_vocabulary::{Activity, Ending, PartialMessage, RunSummary};
use serde::{Deserialize, Serialize};

use crate::partial_feed::Extent;
use crate::to_child::ToChild;

/// A request to an owner about one of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerRequest {
    /// The run.
    pub run: String,
    /// The wish about the run.
    pub want: Want,
}

/// The wishes about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Want {
    /// Its end; answered when all of its processes are gone.
    Stop,
    /// An answer when it is over.
    Wait,
    /// The messages that its model is still writing; answered again and again until the run is
    /// over.
    PartialMessages {
        /// The part of each message that the reader wants.
        #[serde(with = "ExtentWord")]
        extent: Extent,
    },
    /// That its child gets this.
    Send(ToChild),
}

impl Want {
    /// Returns the word for it.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Wait => "wait",
            Self::PartialMessages { .. } => "partial messages",
            Self::Send(_) => "send",
        }
    }
}

/// The words for an [`Extent`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Extent", rename_all = "camelCase")]
enum ExtentWord {
    Whole,
    Newest,
}

/// The answer of the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerReply {
    /// It was done.
    Done,
    /// The run is over, by this request or before it.
    Ended {
        /// The word for its status.
        status: String,
        /// Its exit code.
        exit_code: i32,
        /// The reason why it did not complete, if it did not.
        message: Option<String>,
    },
    /// It was not, and this is why.
    Refused {
        /// The text for a person.
        message: String,
    },
}

impl OwnerReply {
    /// Reports the end of a run.
    pub fn ended(summary: &RunSummary) -> Self {
        let ending = summary.ending.as_ref();
        Self::Ended {
            status: summary.status().as_str().to_owned(),
            exit_code: ending.map_or(0, Ending::exit_code),
            message: ending.and_then(Ending::message),
        }
    }
}

/// The next part of a message that is still being written; many of these come before the reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialUpdate {
    /// The number of the model's answers that were complete before.
    pub(super) number: usize,
    /// The number of bytes of the text sent before that still hold.
    pub(super) kept: usize,
    /// The text that follows them.
    pub(super) text: String,
    /// The present activity of the model.
    pub(super) activity: ActivityWord,
}

impl PartialUpdate {
    /// Returns an update for a reader who has nothing of the message.
    pub fn whole(message: &PartialMessage) -> Self {
        Self {
            number: message.number,
            kept: 0,
            text: message.text.clone(),
            activity: message.activity.clone().into(),
        }
    }

    /// Returns the message of an update that holds all of it.
    pub fn into_message(self) -> PartialMessage {
        PartialMessage {
            number: self.number,
            text: self.text,
            activity: self.activity.into(),
        }
    }
}

/// The words for an [`Activity`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ActivityWord {
    Writing,
    Thinking,
    Calling { tool: String },
}

impl From<Activity> for ActivityWord {
    fn from(activity: Activity) -> Self {
        match activity {
            Activity::Writing => Self::Writing,
            Activity::Thinking => Self::Thinking,
            Activity::Calling { tool } => Self::Calling { tool },
        }
    }
}

impl From<ActivityWord> for Activity {
    fn from(word: ActivityWord) -> Self {
        match word {
            ActivityWord::Writing => Self::Writing,
            ActivityWord::Thinking => Self::Thinking,
            ActivityWord::Calling { tool } => Self::Calling { tool },
        }
    }
}
