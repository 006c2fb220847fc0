//! The records the agent prints, in pi's names and shapes (one JSON object per line).

use serde::Serialize;
use serde_json::Value;

use crate::message::{Message, ToolCall};
use crate::tools::ToolOutput;
use crate::usage::Usage;

/// Something that happened in a run.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Event<'a> {
    AgentStart,
    TurnStart,
    MessageStart {
        message: &'a Message,
    },
    MessageUpdate {
        usage: &'a Usage,
        assistant_message_event: Piece<'a>,
    },
    MessageEnd {
        message: &'a Message,
    },
    ToolExecutionStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a Value,
    },
    ToolExecutionUpdate {
        tool_call_id: &'a str,
        tool_name: &'a str,
        args: &'a Value,
        partial_result: &'a ToolOutput,
    },
    ToolExecutionEnd {
        tool_call_id: &'a str,
        tool_name: &'a str,
        result: &'a ToolOutput,
        is_error: bool,
    },
    TurnEnd {
        message: &'a Message,
        tool_results: Vec<&'a Message>,
    },
    AgentEnd {
        messages: Vec<&'a Message>,
        will_retry: bool,
    },
    AutoRetryStart {
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error_message: &'a str,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        final_error: Option<&'a str>,
    },
    CompactionStart {
        reason: &'a str,
    },
    CompactionEnd {
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Value>,
        aborted: bool,
        will_retry: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_message: Option<&'a str>,
    },
    EntryAppended {
        entry: &'a Value,
    },
    QueueUpdate {
        steering: &'a [String],
        follow_up: &'a [String],
    },
    ThinkingLevelChanged {
        level: &'a str,
    },
    AgentSettled,
    /// Something that was added to the agent failed.
    ExtensionError {
        extension_path: &'a str,
        event: &'a str,
        error: &'a str,
    },
}

/// A piece of an assistant message as it streams in.
#[derive(Debug, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Piece<'a> {
    TextStart {
        content_index: usize,
    },
    TextDelta {
        content_index: usize,
        delta: &'a str,
    },
    TextEnd {
        content_index: usize,
        content: &'a str,
    },
    ThinkingStart {
        content_index: usize,
    },
    ThinkingDelta {
        content_index: usize,
        delta: &'a str,
    },
    ThinkingEnd {
        content_index: usize,
        content: &'a str,
    },
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        content_index: usize,
        id: &'a str,
        tool_name: &'a str,
    },
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta {
        content_index: usize,
        delta: &'a str,
    },
    #[serde(rename = "toolcall_end")]
    ToolCallEnd {
        content_index: usize,
        tool_call: FinishedCall<'a>,
    },
}

/// A tool call with the `type` that it has as a block of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "toolCall")]
pub(crate) struct FinishedCall<'a> {
    #[serde(flatten)]
    pub(crate) call: &'a ToolCall,
}
