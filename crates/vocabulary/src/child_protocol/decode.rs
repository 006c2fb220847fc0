//! Reads one line of a child. Every line gives a value, never an error.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{Object, Scalar};
use super::message::{Content, WireMessage, WireUsage};
use super::record::{ChildLine, ChildRecord, Dialog, ModelName, Response, ResponseData};
use super::surrogates;
use crate::{Usage, text};

/// Decodes one line, given without its newline.
pub fn decode(line: &[u8]) -> ChildLine {
    let Ok(line) = std::str::from_utf8(line) else {
        return ChildLine::Text;
    };
    let record = read_record(line).or_else(|| read_record(&surrogates::replace_lone(line)?));
    record.map_or(ChildLine::Text, ChildLine::Record)
}

fn read_record(line: &str) -> Option<ChildRecord> {
    let mut wire: Wire<'_> = serde_json::from_str(line).ok()?;
    let kind = std::mem::take(&mut wire.kind).text()?;
    if kind == "extension_ui_request" {
        return Some(ChildRecord::Asked(dialog(line, wire)));
    }
    Some(record(&kind, wire))
}

/// Every field that we read of any record. Fields of few records are left raw, and are parsed a
/// second time if they are needed.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    message: Object<WireMessage<'a>>,
    #[serde(rename = "toolCallId", borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(rename = "toolName", borrow, default)]
    tool_name: Scalar<'a>,
    #[serde(borrow, default)]
    args: Raw<'a>,
    #[serde(borrow, default)]
    result: Raw<'a>,
    #[serde(rename = "isError", borrow, default)]
    is_error: Scalar<'a>,
    #[serde(borrow, default)]
    command: Scalar<'a>,
    #[serde(borrow, default)]
    success: Scalar<'a>,
    #[serde(borrow, default)]
    error: Scalar<'a>,
    #[serde(borrow, default)]
    data: Raw<'a>,
    #[serde(borrow, default)]
    method: Scalar<'a>,
    #[serde(borrow, default)]
    title: Scalar<'a>,
    #[serde(borrow, default)]
    reason: Scalar<'a>,
    #[serde(borrow, default)]
    attempt: Scalar<'a>,
    #[serde(rename = "maxAttempts", borrow, default)]
    max_attempts: Scalar<'a>,
    #[serde(rename = "delayMs", borrow, default)]
    delay_ms: Scalar<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    error_message: Scalar<'a>,
}

pub(super) type Raw<'a> = Option<&'a RawValue>;

fn record(kind: &str, wire: Wire<'_>) -> ChildRecord {
    match kind {
        "agent_start" => ChildRecord::AgentStarted,
        "message_end" => match wire.message.0.and_then(WireMessage::into_message) {
            Some(message) => ChildRecord::MessageEnded(message),
            None => other(kind),
        },
        "message_update" | "bash_execution_update" => ChildRecord::Delta,
        "message_start" | "turn_end" | "agent_end" => ChildRecord::Repetition,
        "tool_execution_start" => ChildRecord::ToolStarted {
            call_id: wire.tool_call_id.words(),
            tool: wire.tool_name.words(),
            arguments: value(wire.args),
        },
        "tool_execution_update" => ChildRecord::ToolProgressed {
            call_id: wire.tool_call_id.words(),
        },
        "tool_execution_end" => ChildRecord::ToolEnded {
            call_id: wire.tool_call_id.words(),
            tool: wire.tool_name.words(),
            is_error: wire.is_error.is_true(),
            details: tool_details(wire.result),
            last_line: if wire.is_error.is_true() {
                last_line(wire.result)
            } else {
                String::new()
            },
        },
        "auto_retry_start" => ChildRecord::Retrying {
            attempt: wire.attempt.count(),
            max_attempts: wire.max_attempts.count(),
            delay_ms: wire.delay_ms.count(),
            error: wire.error_message.words(),
        },
        "compaction_start" => ChildRecord::Compacting {
            reason: wire.reason.words(),
        },
        "compaction_end" => ChildRecord::Compacted {
            usage: compaction_usage(wire.result),
        },
        "agent_settled" => ChildRecord::Settled,
        "response" => ChildRecord::Responded(response(wire)),
        "extension_error" => ChildRecord::ExtensionFailed {
            error: wire.error.words(),
        },
        _ => other(kind),
    }
}

/// The fields that only a dialog has.
#[derive(Deserialize, Default)]
struct WireDialog<'a> {
    /// In other records it is an object.
    #[serde(borrow, default)]
    message: Scalar<'a>,
    #[serde(borrow, default)]
    prefill: Scalar<'a>,
    #[serde(borrow, default)]
    options: Raw<'a>,
    #[serde(borrow, default)]
    timeout: Scalar<'a>,
}

fn dialog(line: &str, wire: Wire<'_>) -> Dialog {
    let more: WireDialog<'_> = serde_json::from_str(line).unwrap_or_default();
    let options = read::<Vec<Scalar<'_>>>(more.options).unwrap_or_default();
    Dialog {
        id: wire.id.words(),
        method: wire.method.words(),
        title: wire.title.owned(),
        message: more.message.owned().or_else(|| more.prefill.owned()),
        options: options.into_iter().map(Scalar::words).collect(),
        timeout_ms: Some(more.timeout.count()).filter(|limit| *limit > 0),
    }
}

fn other(kind: &str) -> ChildRecord {
    ChildRecord::Other {
        kind: kind.to_owned(),
    }
}

fn response(wire: Wire<'_>) -> Response {
    let command = wire.command.words();
    let silent = "the child refused the command and did not say why";
    Response {
        id: wire.id.owned(),
        error: (!wire.success.is_true())
            .then(|| wire.error.owned().unwrap_or_else(|| silent.to_owned())),
        data: response_data(&command, wire.data),
        command,
    }
}

#[derive(Deserialize)]
struct WireData<'a> {
    #[serde(borrow, default)]
    model: Object<WireModel<'a>>,
    #[serde(borrow, default)]
    models: Raw<'a>,
    #[serde(rename = "contextWindow", borrow, default)]
    context_window: Scalar<'a>,
}

fn response_data(command: &str, raw: Raw<'_>) -> ResponseData {
    let Some(data) = read::<WireData<'_>>(raw) else {
        return ResponseData::Nothing;
    };
    match command {
        "get_state" => ResponseData::State(data.model.0.and_then(WireModel::into_name)),
        "get_available_models" => ResponseData::Models(
            read::<Vec<Object<WireModel<'_>>>>(data.models)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|model| model.0?.into_name())
                .collect(),
        ),
        "set_model" => {
            ResponseData::Window(Some(data.context_window.count()).filter(|window| *window > 0))
        }
        _ => ResponseData::Nothing,
    }
}

#[derive(Deserialize)]
struct WireModel<'a> {
    #[serde(borrow, default)]
    provider: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
}

impl WireModel<'_> {
    fn into_name(self) -> Option<ModelName> {
        Some(ModelName {
            provider: self.provider.owned()?,
            id: self.id.owned()?,
        })
    }
}

#[derive(Deserialize)]
struct WireResult<'a> {
    #[serde(borrow, default)]
    details: Raw<'a>,
    #[serde(borrow, default)]
    usage: Object<WireUsage<'a>>,
}

/// The details of a tool beyond this size repeat its text and are of no use to us.
const DETAILS_LIMIT: usize = 256 * 1024;

fn tool_details(result: Raw<'_>) -> Option<Value> {
    let details = read::<WireResult<'_>>(result)?.details?;
    (details.get().len() <= DETAILS_LIMIT).then(|| value(Some(details)))
}

/// The number of characters of a line that are kept.
const LINE_LIMIT: usize = 500;

/// Returns the last line of a result's text.
fn last_line(result: Raw<'_>) -> String {
    #[derive(Deserialize)]
    struct WireText {
        #[serde(default)]
        content: Content,
    }
    let text = read::<WireText>(result).and_then(|result| result.content.text());
    let text = text.unwrap_or_default();
    let line = text.lines().next_back().unwrap_or_default();
    text::cut_characters(line, LINE_LIMIT)
}

fn compaction_usage(result: Raw<'_>) -> Usage {
    let usage = read::<WireResult<'_>>(result).and_then(|result| result.usage.0);
    usage.map_or_else(Usage::default, WireUsage::into_usage)
}

pub(super) fn read<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

pub(super) fn value(raw: Raw<'_>) -> Value {
    read(raw).unwrap_or(Value::Null)
}
