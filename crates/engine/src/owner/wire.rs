//! What is said on an owner's socket.

use pi_subagents_delegation::Act;
use serde::{Deserialize, Serialize};

/// What is asked of an owner about one of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerRequest {
    /// The run.
    pub run: String,
    /// What is wanted of it.
    pub want: Want,
}

/// What can be wanted of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Want {
    /// Its end; answered when nothing of it is left.
    Stop,
    /// News of its end.
    Wait,
    /// What its model says, as it says it; answered again and again until the run is over.
    Listen {
        /// How much of each message.
        extent: Extent,
    },
    /// That its child hears something.
    Steer {
        /// What it hears.
        message: String,
    },
}

/// How much of a message whoever listens wants to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Extent {
    /// All of it, as fast as it comes.
    Whole,
    /// Its newest lines, a few times a second.
    Newest,
}

/// What the owner answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerReply {
    /// It was done.
    Done,
    /// It was not, and this is why.
    Refused {
        /// What a person reads.
        message: String,
    },
}

/// More of what a model says; many of these come before the reply to whoever listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpeechNews {
    /// How many of its answers were complete before.
    pub(super) message: usize,
    /// How many bytes of what was told before still hold.
    pub(super) kept: usize,
    /// What follows them.
    pub(super) text: String,
    /// What it does.
    pub(super) act: ActNews,
}

/// What a model does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ActNews {
    Speaking,
    Thinking,
    Calling { tool: String },
}

impl From<Act> for ActNews {
    fn from(act: Act) -> Self {
        match act {
            Act::Speaking => Self::Speaking,
            Act::Thinking => Self::Thinking,
            Act::Calling { tool } => Self::Calling { tool },
        }
    }
}

impl From<ActNews> for Act {
    fn from(news: ActNews) -> Self {
        match news {
            ActNews::Speaking => Self::Speaking,
            ActNews::Thinking => Self::Thinking,
            ActNews::Calling { tool } => Self::Calling { tool },
        }
    }
}
