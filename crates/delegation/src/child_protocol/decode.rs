//! Reads one line of a child. Whatever it is, the result is a value and never an error.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::record::{ChildLine, ChildRecord, ModelName, Question, Response, ResponseData};
use crate::{AssistantMessage, Message, Part, StopReason, ToolCall, ToolChange, ToolResult, Usage};

/// Decodes one line, given without its newline.
pub fn decode(line: &[u8]) -> ChildLine {
    match serde_json::from_slice::<Wire<'_>>(line) {
        Ok(wire) => match string(wire.kind) {
            Some(kind) => ChildLine::Record(record(&kind, &wire)),
            None => ChildLine::Text,
        },
        Err(_) => ChildLine::Text,
    }
}

/// Every field we read of any record. All of them are raw, so that a wrong type in one field
/// costs that field and nothing else.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    message: Raw<'a>,
    #[serde(rename = "toolCallId", borrow, default)]
    tool_call_id: Raw<'a>,
    #[serde(rename = "toolName", borrow, default)]
    tool_name: Raw<'a>,
    #[serde(borrow, default)]
    args: Raw<'a>,
    #[serde(borrow, default)]
    result: Raw<'a>,
    #[serde(rename = "isError", borrow, default)]
    is_error: Raw<'a>,
    #[serde(borrow, default)]
    command: Raw<'a>,
    #[serde(borrow, default)]
    success: Raw<'a>,
    #[serde(borrow, default)]
    error: Raw<'a>,
    #[serde(borrow, default)]
    data: Raw<'a>,
    #[serde(borrow, default)]
    method: Raw<'a>,
    #[serde(borrow, default)]
    title: Raw<'a>,
    #[serde(borrow, default)]
    reason: Raw<'a>,
    #[serde(borrow, default)]
    attempt: Raw<'a>,
    #[serde(rename = "maxAttempts", borrow, default)]
    max_attempts: Raw<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    error_message: Raw<'a>,
}

type Raw<'a> = Option<&'a RawValue>;

fn record(kind: &str, wire: &Wire<'_>) -> ChildRecord {
    match kind {
        "agent_start" => ChildRecord::AgentStarted,
        "message_end" => match message(wire.message) {
            Some(message) => ChildRecord::MessageEnded(message),
            None => other(kind),
        },
        "message_update" | "bash_execution_update" => ChildRecord::Delta,
        "message_start" | "turn_end" | "agent_end" => ChildRecord::Repetition,
        "tool_execution_start" => ChildRecord::ToolStarted {
            call_id: owned(wire.tool_call_id),
            tool: owned(wire.tool_name),
            arguments: value(wire.args),
        },
        "tool_execution_update" => ChildRecord::ToolProgressed {
            call_id: owned(wire.tool_call_id),
        },
        "tool_execution_end" => ChildRecord::ToolEnded {
            call_id: owned(wire.tool_call_id),
            tool: owned(wire.tool_name),
            is_error: boolean(wire.is_error),
            details: tool_details(wire.result),
        },
        "auto_retry_start" => ChildRecord::Retrying {
            attempt: number(wire.attempt),
            max_attempts: number(wire.max_attempts),
            error: owned(wire.error_message),
        },
        "compaction_start" => ChildRecord::Compacting {
            reason: owned(wire.reason),
        },
        "compaction_end" => ChildRecord::Compacted {
            usage: compaction_usage(wire.result),
        },
        "agent_settled" => ChildRecord::Settled,
        "response" => ChildRecord::Responded(response(wire)),
        "extension_ui_request" => ChildRecord::Asked(Question {
            id: owned(wire.id),
            method: owned(wire.method),
            title: string(wire.title).map(Cow::into_owned),
        }),
        "extension_error" => ChildRecord::ExtensionFailed {
            error: owned(wire.error),
        },
        _ => other(kind),
    }
}

fn other(kind: &str) -> ChildRecord {
    ChildRecord::Other {
        kind: kind.to_owned(),
    }
}

fn response(wire: &Wire<'_>) -> Response {
    let error = (!boolean(wire.success)).then(|| {
        string(wire.error).map_or_else(
            || "the child refused the command and did not say why".to_owned(),
            Cow::into_owned,
        )
    });
    let command = owned(wire.command);
    Response {
        id: string(wire.id).map(Cow::into_owned),
        error,
        data: response_data(&command, wire.data),
        command,
    }
}

#[derive(Deserialize)]
struct WireData<'a> {
    #[serde(borrow, default)]
    model: Raw<'a>,
    #[serde(borrow, default)]
    models: Raw<'a>,
}

fn response_data(command: &str, raw: Raw<'_>) -> ResponseData {
    let Some(data) = read::<WireData<'_>>(raw) else {
        return ResponseData::Nothing;
    };
    match command {
        "get_state" => ResponseData::State(model_name(data.model)),
        "get_available_models" => ResponseData::Models(
            read::<Vec<&RawValue>>(data.models)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|raw| model_name(Some(raw)))
                .collect(),
        ),
        _ => ResponseData::Nothing,
    }
}

#[derive(Deserialize)]
struct WireModel<'a> {
    #[serde(borrow, default)]
    provider: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
}

fn model_name(raw: Raw<'_>) -> Option<ModelName> {
    let wire: WireModel<'_> = read(raw)?;
    Some(ModelName {
        provider: string(wire.provider)?.into_owned(),
        id: string(wire.id)?.into_owned(),
    })
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow, default)]
    role: Raw<'a>,
    #[serde(borrow, default)]
    content: Raw<'a>,
    #[serde(borrow, default)]
    provider: Raw<'a>,
    #[serde(borrow, default)]
    model: Raw<'a>,
    #[serde(rename = "stopReason", borrow, default)]
    stop_reason: Raw<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    error_message: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
    #[serde(rename = "toolCallId", borrow, default)]
    tool_call_id: Raw<'a>,
    #[serde(rename = "toolName", borrow, default)]
    tool_name: Raw<'a>,
    #[serde(rename = "isError", borrow, default)]
    is_error: Raw<'a>,
    #[serde(rename = "toolsAdded", borrow, default)]
    tools_added: Raw<'a>,
    #[serde(rename = "toolsRemoved", borrow, default)]
    tools_removed: Raw<'a>,
    #[serde(borrow, default)]
    sections: Raw<'a>,
}

fn message(raw: Raw<'_>) -> Option<Message> {
    let wire: WireMessage<'_> = read(raw)?;
    let role = string(wire.role)?;
    Some(match &*role {
        "system" => Message::System(ToolChange {
            is_first: is_first(wire.sections),
            added: names(wire.tools_added),
            removed: names(wire.tools_removed),
        }),
        "user" => Message::User(parts(wire.content)),
        "assistant" => Message::Assistant(AssistantMessage {
            parts: parts(wire.content),
            provider: string(wire.provider).map(Cow::into_owned),
            model: string(wire.model).map(Cow::into_owned),
            stop_reason: string(wire.stop_reason).map(|word| StopReason::from_word(&word)),
            error: string(wire.error_message).map(Cow::into_owned),
            usage: usage(wire.usage),
        }),
        "toolResult" => Message::ToolResult(ToolResult {
            call_id: owned(wire.tool_call_id),
            tool: owned(wire.tool_name),
            parts: parts(wire.content),
            is_error: boolean(wire.is_error),
        }),
        role => Message::Other {
            role: role.to_owned(),
            parts: parts(wire.content),
        },
    })
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

fn names(raw: Raw<'_>) -> Vec<String> {
    let named: Vec<Named> = read(raw).unwrap_or_default();
    named.into_iter().map(|named| named.name).collect()
}

/// The directory of a session never changes, so only its first instructions have that section.
fn is_first(sections: Raw<'_>) -> bool {
    #[derive(Deserialize)]
    struct Sections<'a> {
        #[serde(borrow, default)]
        cwd: Raw<'a>,
    }
    read::<Sections<'_>>(sections).is_some_and(|sections| string(sections.cwd).is_some())
}

/// Content is a string or a list of parts; parts we cannot read are left out.
fn parts(raw: Raw<'_>) -> Vec<Part> {
    if let Some(text) = string(raw) {
        return vec![Part::Text(text.into_owned())];
    }
    read::<Vec<&RawValue>>(raw)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| part(Some(raw)))
        .collect()
}

#[derive(Deserialize)]
struct WirePart<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default)]
    thinking: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(rename = "mimeType", borrow, default)]
    mime_type: Raw<'a>,
}

fn part(raw: Raw<'_>) -> Option<Part> {
    let wire: WirePart<'_> = read(raw)?;
    match &*string(wire.kind)? {
        "text" => Some(Part::Text(string(wire.text)?.into_owned())),
        "thinking" => Some(Part::Thinking(string(wire.thinking)?.into_owned())),
        "toolCall" => Some(Part::ToolCall(ToolCall {
            id: owned(wire.id),
            name: owned(wire.name),
            arguments: value(wire.arguments),
        })),
        "image" => Some(Part::Image {
            mime_type: owned(wire.mime_type),
        }),
        _ => None,
    }
}

#[derive(Deserialize)]
struct WireUsage<'a> {
    #[serde(borrow, default)]
    input: Raw<'a>,
    #[serde(borrow, default)]
    output: Raw<'a>,
    #[serde(rename = "cacheRead", borrow, default)]
    cache_read: Raw<'a>,
    #[serde(rename = "cacheWrite", borrow, default)]
    cache_write: Raw<'a>,
    #[serde(borrow, default)]
    cost: Raw<'a>,
}

#[derive(Deserialize)]
struct WireCost {
    total: f64,
}

fn usage(raw: Raw<'_>) -> Usage {
    let Some(wire) = read::<WireUsage<'_>>(raw) else {
        return Usage::default();
    };
    Usage {
        input: number(wire.input),
        output: number(wire.output),
        cache_read: number(wire.cache_read),
        cache_write: number(wire.cache_write),
        cost: read::<WireCost>(wire.cost).map(|cost| cost.total),
    }
}

#[derive(Deserialize)]
struct WireResult<'a> {
    #[serde(borrow, default)]
    details: Raw<'a>,
    #[serde(borrow, default)]
    usage: Raw<'a>,
}

/// The details of a tool beyond this size repeat its text and are of no use to us.
const DETAILS_LIMIT: usize = 256 * 1024;

fn tool_details(result: Raw<'_>) -> Option<Value> {
    let details = read::<WireResult<'_>>(result)?.details?;
    (details.get().len() <= DETAILS_LIMIT).then(|| value(Some(details)))
}

fn compaction_usage(result: Raw<'_>) -> Usage {
    read::<WireResult<'_>>(result).map_or_else(Usage::default, |result| usage(result.usage))
}

fn read<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn string<'a>(raw: Raw<'a>) -> Option<Cow<'a, str>> {
    /// A plain `Cow<str>` would copy even where nothing is escaped.
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    read::<Borrowed<'a>>(raw).map(|text| text.0)
}

fn owned(raw: Raw<'_>) -> String {
    string(raw).map(Cow::into_owned).unwrap_or_default()
}

fn value(raw: Raw<'_>) -> Value {
    read(raw).unwrap_or(Value::Null)
}

fn number(raw: Raw<'_>) -> u64 {
    read(raw).unwrap_or_default()
}

fn boolean(raw: Raw<'_>) -> bool {
    read(raw).unwrap_or_default()
}
