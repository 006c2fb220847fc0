//! Providers answer requests: a model behind a wire format, or a script.

mod answer_stream;
mod chat;
mod chat_errors;
#[cfg(test)]
mod chat_tests;
mod completions;
mod connections;
mod effort;
mod finish;
#[cfg(test)]
mod format_tests;
mod google;
mod limits;
mod messages;
mod open_calls;
mod post;
#[cfg(test)]
mod request_tests;
mod responses;
mod roots;
pub(crate) mod scripted_provider;
mod sse;
#[cfg(test)]
mod testing;
mod turns;
mod wire;

pub(crate) use chat::ChatProvider;
pub(crate) use connections::Connections;
pub(crate) use scripted_provider::{ScriptError, ScriptedProvider};
pub(crate) use wire::GATEWAY_KEY;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::Stream;
use pi_subagents_vocabulary::ThinkingLevel;
use serde_json::Value;

use crate::message::{Message, ToolDeclaration};
use crate::models::Model;
use crate::usage::Usage;

/// One call of a model.
pub(crate) struct Request<'a> {
    pub(crate) model: &'a Model,
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Rc<Message>],
    pub(crate) tools: &'a [ToolDeclaration],
    pub(crate) thinking: ThinkingLevel,
    /// The most tokens that the answer may have, where that is known.
    pub(crate) max_tokens: Option<u64>,
}

/// A piece of the answer. The pieces of one call may be mixed with those of another.
#[derive(Debug, PartialEq)]
pub(crate) enum Chunk {
    Thinking(String),
    /// Proves the thought before it; may come in pieces.
    ThinkingSignature(String),
    /// A thought that only the provider can read.
    Redacted(String),
    Text(String),
    /// Belongs to the text before it.
    TextSignature(String),
    CallStart {
        id: String,
        name: String,
        signature: Option<String>,
    },
    CallArguments {
        id: String,
        delta: String,
    },
    /// The arguments as they should have come.
    CallCorrected {
        id: String,
        arguments: Value,
    },
    /// The headers in which the provider tells how much of its windows is used; comes first, if at
    /// all.
    Windows(BTreeMap<String, String>),
    /// Comes once and last; an answer without it was cut off.
    Finished(Finish),
}

/// The end of an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Finish {
    pub(crate) usage: Usage,
    pub(crate) reached_limit: bool,
    pub(crate) response_id: Option<String>,
    pub(crate) raw_stop_reason: Option<String>,
    /// Set when the provider ended the answer for a reason that is a failure.
    pub(crate) refusal: Option<String>,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ProviderError {
    pub(crate) message: String,
    /// True if asking again may help.
    pub(crate) is_transient: bool,
    /// The time that the server asks us to wait.
    pub(crate) retry_after: Option<Duration>,
    /// The number of times that asking again may help, where more would be in vain.
    pub(crate) most_retries: Option<u32>,
}

/// The shortest wait that an error mentions.
const LONG_WAIT: Duration = Duration::from_secs(10);

impl ProviderError {
    /// Returns an error for which asking again will not help.
    pub(crate) fn permanent(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_transient: false,
            retry_after: None,
            most_retries: None,
        }
    }

    /// Returns an error for which asking again may help.
    pub(crate) fn transient(message: impl Into<String>) -> Self {
        Self {
            is_transient: true,
            ..Self::permanent(message)
        }
    }

    /// Returns the error for a server that hung up in the middle.
    pub(crate) fn cut_off() -> Self {
        Self::transient("The stream ended before the answer was complete.")
    }

    /// Returns the error for an HTTP status that is not a success. A long wait that the server asks
    /// for is part of the message, because it decides whether asking again is worth it.
    pub(crate) fn status(status: u16, message: impl Into<String>, wait: Option<Duration>) -> Self {
        let mut message = message.into();
        if let Some(wait) = wait.filter(|wait| *wait >= LONG_WAIT) {
            message = format!("{message} (the server asks to wait {} s)", wait.as_secs());
        }
        Self {
            message,
            is_transient: matches!(status, 408 | 409 | 429) || status >= 500,
            retry_after: wait,
            most_retries: None,
        }
    }
}

/// The pieces of an answer as they come.
pub(crate) type ChunkStream<'a> = Pin<Box<dyn Stream<Item = Result<Chunk, ProviderError>> + 'a>>;

/// A provider answers requests to a model.
pub(crate) trait Provider {
    /// Begins to answer; dropping the stream ends the call.
    fn stream<'a>(&'a self, request: Request<'a>) -> ChunkStream<'a>;
}
