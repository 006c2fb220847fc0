//! The records of pi's protocol, with `type` as the first key as pi writes it.

use serde::Serialize;
use serde_json::value::RawValue;

/// The time of every message, so that two runs of a script print the same bytes.
const TIMESTAMP: u64 = 1_763_000_000_000;

/// One line of the protocol.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Record<'a> {
    AgentStart,
    TurnStart,
    MessageStart {
        message: &'a Message<'a>,
    },
    MessageUpdate {
        usage: Usage,
        assistant_message_event: Streamed<'a>,
    },
    MessageEnd {
        message: &'a Message<'a>,
    },
    ToolExecutionStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a RawValue,
    },
    ToolExecutionUpdate {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a RawValue,
        partial_result: ToolResult<'a>,
    },
    ToolExecutionEnd {
        tool_call_id: &'a str,
        tool_name: &'a str,
        result: ToolResult<'a>,
        is_error: bool,
    },
    TurnEnd {
        message: &'a Message<'a>,
        tool_results: Vec<&'a Message<'a>>,
    },
    AgentEnd {
        messages: Vec<&'a RawValue>,
        will_retry: bool,
    },
    AgentSettled,
    ExtensionUiRequest {
        id: &'a str,
        method: &'a str,
        title: &'a str,
        message: &'a str,
    },
}

/// A piece of a streamed assistant message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(crate) enum Streamed<'a> {
    #[serde(rename = "text_start")]
    Start { content_index: usize },
    #[serde(rename = "text_delta")]
    Delta {
        content_index: usize,
        delta: &'a str,
    },
    #[serde(rename = "text_end")]
    End {
        content_index: usize,
        content: &'a str,
    },
}

/// A message of the conversation.
#[derive(Debug, Serialize)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Message<'a> {
    System {
        content: &'a str,
        sections: Sections<'a>,
        timestamp: u64,
        tools_added: Vec<AllowedTool>,
    },
    User {
        content: Vec<Block<'a>>,
        timestamp: u64,
    },
    Assistant {
        content: Vec<Block<'a>>,
        api: &'static str,
        provider: &'static str,
        model: &'static str,
        usage: Usage,
        stop_reason: &'static str,
        timestamp: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<&'a str>,
    },
    ToolResult {
        tool_call_id: &'a str,
        tool_name: &'a str,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<&'a RawValue>,
        is_error: bool,
        timestamp: u64,
    },
}

impl<'a> Message<'a> {
    /// Makes the system message that precedes a first prompt.
    pub(crate) fn system() -> Self {
        Self::System {
            content: "",
            sections: Sections {
                preamble: "You misbehave by script.",
                cwd: "<cwd>.</cwd>",
            },
            timestamp: TIMESTAMP,
            tools_added: allowed_tools(),
        }
    }

    /// Makes the user's message.
    pub(crate) fn user(text: &'a str) -> Self {
        Self::User {
            content: vec![Block::Text { text }],
            timestamp: TIMESTAMP,
        }
    }

    /// Makes an assistant message that ended for `stop_reason`.
    pub(crate) fn assistant(content: Vec<Block<'a>>, stop_reason: &'static str) -> Self {
        Self::Assistant {
            content,
            api: "openai-completions",
            provider: "fake",
            model: "fake-model",
            usage: Usage::of_one_message(),
            stop_reason,
            timestamp: TIMESTAMP,
            error_message: None,
        }
    }

    /// Makes an assistant message with `text` that ended well.
    pub(crate) fn text(text: &'a str) -> Self {
        Self::assistant(vec![Block::Text { text }], "stop")
    }

    /// Makes an assistant message without content, as pi reports a failed request.
    pub(crate) fn failed(stop_reason: &'static str, error_message: &'a str) -> Self {
        Self::Assistant {
            content: Vec::new(),
            api: "openai-completions",
            provider: "fake",
            model: "fake-model",
            usage: Usage::default(),
            stop_reason,
            timestamp: TIMESTAMP,
            error_message: Some(error_message),
        }
    }

    /// Makes the message that carries the result of a tool.
    pub(crate) fn tool_result(
        id: &'a str,
        name: &'a str,
        result: &ToolResult<'a>,
        is_error: bool,
    ) -> Self {
        Self::ToolResult {
            tool_call_id: id,
            tool_name: name,
            content: result.content.clone(),
            details: result.details,
            is_error,
            timestamp: TIMESTAMP,
        }
    }
}

/// A tool that the child was given.
#[derive(Debug, Serialize)]
pub(crate) struct AllowedTool {
    name: String,
}

/// Returns the tools of `--tools`, as a child lists them that knows all of these.
fn allowed_tools() -> Vec<AllowedTool> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--tools");
    let names = arguments.nth(1).unwrap_or_default();
    let names = names.split(',').filter(|name| !name.is_empty());
    names
        .map(|name| AllowedTool {
            name: name.to_owned(),
        })
        .collect()
}

/// The parts of a system message.
#[derive(Debug, Serialize)]
pub(crate) struct Sections<'a> {
    preamble: &'a str,
    cwd: &'a str,
}

/// A block of a message's content.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Block<'a> {
    Text {
        text: &'a str,
    },
    ToolCall {
        id: &'a str,
        name: &'a str,
        arguments: &'a RawValue,
    },
}

/// The result of a tool, whole or so far.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ToolResult<'a> {
    content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "is_false")]
    terminate: bool,
}

impl<'a> ToolResult<'a> {
    /// Makes a result of one text.
    pub(crate) fn text(text: &'a str) -> Self {
        Self {
            content: vec![Block::Text { text }],
            details: None,
            terminate: false,
        }
    }

    /// Adds the parts that an extension's tool may return beside the text.
    pub(crate) fn with(mut self, details: Option<&'a RawValue>, terminate: bool) -> Self {
        self.details = details;
        self.terminate = terminate;
        self
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Tokens and dollars of one assistant message.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    input: u32,
    output: u32,
    cache_read: u32,
    cache_write: u32,
    total_tokens: u32,
    cost: Cost,
}

impl Usage {
    /// Returns the usage of every assistant message: 100 tokens in, 10 out, 0.00045 dollars.
    pub(crate) fn of_one_message() -> Self {
        Self {
            input: 100,
            output: 10,
            total_tokens: 110,
            cost: Cost {
                input: 0.0003,
                output: 0.00015,
                total: 0.00045,
                ..Cost::default()
            },
            ..Self::default()
        }
    }
}

/// Dollars by kind of token.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    total: f64,
}
