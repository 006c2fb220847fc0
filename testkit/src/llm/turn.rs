//! One turn of the model: its words, its speed and its faults.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// One answer of the model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Turn {
    /// The thoughts of the model, if it thinks.
    pub thinking: String,
    /// The text of the answer.
    pub text: String,
    /// The tools it calls.
    pub tool_calls: Vec<ToolCall>,
    /// The tokens of the turn.
    pub usage: Usage,
    /// The reason why it stops; if not set, `toolUse` with tool calls and `stop` without.
    pub stop: Option<StopReason>,
    /// Milliseconds before the first byte of the answer.
    pub delay_ms: u64,
    /// Milliseconds between two frames of the stream.
    pub between_ms: u64,
    /// The number of characters in a piece of streamed text; if not set, all of it is one piece.
    pub chunk_chars: Option<usize>,
    /// The name of a gate that must be released first.
    pub gate: Option<String>,
    /// The number of frames that are streamed before the gate; with 0 not even the headers are
    /// sent.
    pub gate_after: usize,
    /// Further headers of the answer.
    pub headers: BTreeMap<String, String>,
    /// The fault of the turn.
    pub fault: Option<Fault>,
}

impl Turn {
    /// Makes a turn with the answer `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Makes a turn that calls a tool.
    pub fn tool_call(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_tool_call(name, arguments)
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Makes a turn that fails with this HTTP status.
    pub fn status(code: u16, message: impl Into<String>) -> Self {
        Self::fault(Fault::Status {
            code,
            message: message.into(),
            retry_after: None,
        })
    }

    /// Makes a turn in which something goes wrong.
    pub fn fault(fault: Fault) -> Self {
        Self::default().with_fault(fault)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_tool_call(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.tool_calls.push(ToolCall {
            name: name.into(),
            arguments,
        });
        self
    }

    /// Adds thinking before the text.
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = thinking.into();
        self
    }

    /// Sets the usage.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets why it stops.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Waits before the answer.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay_ms = milliseconds(delay);
        self
    }

    /// Streams the text in pieces of this number of characters, with a pause between them.
    #[must_use]
    pub fn paced(mut self, chunk_chars: usize, between: Duration) -> Self {
        self.chunk_chars = Some(chunk_chars);
        self.between_ms = milliseconds(between);
        self
    }

    /// Waits until the test releases the gate, before anything is sent.
    #[must_use]
    pub fn gate(mut self, name: impl Into<String>) -> Self {
        self.gate = Some(name.into());
        self
    }

    /// Waits until the test releases the gate, after this number of frames of the stream.
    #[must_use]
    pub fn gate_after(mut self, frames: usize, name: impl Into<String>) -> Self {
        self.gate_after = frames;
        self.gate(name)
    }

    /// Lets something go wrong.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Returns why it stops.
    pub(super) fn stop_reason(&self) -> StopReason {
        match self.stop {
            Some(stop) => stop,
            None if self.tool_calls.is_empty() => StopReason::Stop,
            None => StopReason::ToolUse,
        }
    }

    /// Splits a text into the pieces in which it is streamed.
    pub(super) fn pieces(&self, text: &str) -> Vec<String> {
        let Some(size) = self.chunk_chars else {
            return vec![text.to_owned()];
        };
        let characters: Vec<char> = text.chars().collect();
        characters
            .chunks(size.max(1))
            .map(|piece| piece.iter().collect())
            .collect()
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The name of the tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// Tokens, counted as pi counts them: `input` excludes the tokens that came from or went into the
/// cache.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Usage {
    /// Tokens of the prompt outside the cache.
    pub input: u64,
    /// Tokens of the answer, reasoning included.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Tokens of reasoning, a part of `output`.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input: 100,
            output: 10,
            cache_read: 0,
            cache_write: 0,
            reasoning: 0,
        }
    }
}

impl Usage {
    /// Returns all tokens of the prompt, as the OpenAI and Google formats count them.
    pub(super) fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

/// The reason why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It reached the limit of tokens.
    Length,
    /// It wants the results of tools.
    ToolUse,
    /// A filter cut it off.
    ContentFilter,
}

/// The fault of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fault {
    /// An HTTP error in place of the answer.
    Status {
        /// The status, such as 429.
        code: u16,
        /// The text of the error.
        #[serde(default)]
        message: String,
        /// The seconds in the `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// The connection is closed before any header is sent.
    Drop,
    /// The connection breaks after this number of frames of the stream, at the latest after the
    /// last.
    CutAfter(usize),
    /// After the first frame comes a frame whose JSON is broken.
    Malformed,
    /// Nothing is answered until the client leaves.
    Hang,
}
