//! Reads one line of a child. Whatever it is, the result is a value and never an error.

use std::borrow::Cow;

use serde_json::Value;

use super::json::{Json, value};
use super::message::{WireMessage, read_usage};
use super::record::{ChildLine, ChildRecord, ModelName, Question, Response, ResponseData};
use crate::Usage;

/// Decodes one line, given without its newline.
pub fn decode(line: &[u8]) -> ChildLine {
    let record = std::str::from_utf8(line).ok().and_then(read_record);
    record.map_or(ChildLine::Text, ChildLine::Record)
}

fn read_record(line: &str) -> Option<ChildRecord> {
    let mut json = Json::new(line);
    let mut wire = Wire::read(&mut json)?;
    json.end()?;
    let kind = wire.kind.take()?;
    Some(record(&kind, wire))
}

/// Every field we read of any record. What is read of few records only is left as it is written,
/// and costs a second look then.
#[derive(Default)]
struct Wire<'a> {
    kind: Text<'a>,
    id: Text<'a>,
    message: Option<WireMessage<'a>>,
    tool_call_id: Text<'a>,
    tool_name: Text<'a>,
    args: Raw<'a>,
    result: Raw<'a>,
    is_error: bool,
    command: Text<'a>,
    success: bool,
    error: Text<'a>,
    data: Raw<'a>,
    method: Text<'a>,
    title: Text<'a>,
    reason: Text<'a>,
    attempt: u64,
    max_attempts: u64,
    error_message: Text<'a>,
}

pub(super) type Text<'a> = Option<Cow<'a, str>>;
pub(super) type Raw<'a> = Option<&'a str>;

impl<'a> Wire<'a> {
    fn read(json: &mut Json<'a>) -> Option<Self> {
        let mut wire = Self::default();
        let is_object = json.object(|json, key| {
            match key {
                "type" => wire.kind = json.text()?,
                "id" => wire.id = json.text()?,
                "message" => wire.message = WireMessage::read(json)?,
                "toolCallId" => wire.tool_call_id = json.text()?,
                "toolName" => wire.tool_name = json.text()?,
                "args" => wire.args = Some(json.skip()?),
                "result" => wire.result = Some(json.skip()?),
                "isError" => wire.is_error = json.is_true()?,
                "command" => wire.command = json.text()?,
                "success" => wire.success = json.is_true()?,
                "error" => wire.error = json.text()?,
                "data" => wire.data = Some(json.skip()?),
                "method" => wire.method = json.text()?,
                "title" => wire.title = json.text()?,
                "reason" => wire.reason = json.text()?,
                "attempt" => wire.attempt = json.count()?,
                "maxAttempts" => wire.max_attempts = json.count()?,
                "errorMessage" => wire.error_message = json.text()?,
                _ => _ = json.skip()?,
            }
            Some(())
        })?;
        is_object.then_some(wire)
    }
}

fn record(kind: &str, wire: Wire<'_>) -> ChildRecord {
    match kind {
        "agent_start" => ChildRecord::AgentStarted,
        "message_end" => match wire.message.and_then(WireMessage::into_message) {
            Some(message) => ChildRecord::MessageEnded(message),
            None => other(kind),
        },
        "message_update" | "bash_execution_update" => ChildRecord::Delta,
        "message_start" | "turn_end" | "agent_end" => ChildRecord::Repetition,
        "tool_execution_start" => ChildRecord::ToolStarted {
            call_id: words(wire.tool_call_id),
            tool: words(wire.tool_name),
            arguments: value(wire.args),
        },
        "tool_execution_update" => ChildRecord::ToolProgressed {
            call_id: words(wire.tool_call_id),
        },
        "tool_execution_end" => ChildRecord::ToolEnded {
            call_id: words(wire.tool_call_id),
            tool: words(wire.tool_name),
            is_error: wire.is_error,
            details: tool_details(wire.result),
        },
        "auto_retry_start" => ChildRecord::Retrying {
            attempt: wire.attempt,
            max_attempts: wire.max_attempts,
            error: words(wire.error_message),
        },
        "compaction_start" => ChildRecord::Compacting {
            reason: words(wire.reason),
        },
        "compaction_end" => ChildRecord::Compacted {
            usage: compaction_usage(wire.result),
        },
        "agent_settled" => ChildRecord::Settled,
        "response" => ChildRecord::Responded(response(wire)),
        "extension_ui_request" => ChildRecord::Asked(Question {
            id: words(wire.id),
            method: words(wire.method),
            title: wire.title.map(Cow::into_owned),
        }),
        "extension_error" => ChildRecord::ExtensionFailed {
            error: words(wire.error),
        },
        _ => other(kind),
    }
}

pub(super) fn words(text: Text<'_>) -> String {
    text.map(Cow::into_owned).unwrap_or_default()
}

fn other(kind: &str) -> ChildRecord {
    ChildRecord::Other {
        kind: kind.to_owned(),
    }
}

fn response(wire: Wire<'_>) -> Response {
    let command = words(wire.command);
    let silent = "the child refused the command and did not say why";
    let error = wire.error.unwrap_or(Cow::Borrowed(silent));
    Response {
        id: wire.id.map(Cow::into_owned),
        error: (!wire.success).then(|| error.into_owned()),
        data: response_data(&command, wire.data),
        command,
    }
}

fn response_data(command: &str, raw: Raw<'_>) -> ResponseData {
    let (mut model, mut models) = (None, Vec::new());
    let is_object = field_by_field(raw, |json, key| {
        match key {
            "model" => model = model_name(json)?,
            "models" => {
                json.list(|json| {
                    models.extend(model_name(json)?);
                    Some(())
                })?;
            }
            _ => _ = json.skip()?,
        }
        Some(())
    });
    match command {
        "get_state" if is_object => ResponseData::State(model),
        "get_available_models" if is_object => ResponseData::Models(models),
        _ => ResponseData::Nothing,
    }
}

fn model_name(json: &mut Json<'_>) -> Option<Option<ModelName>> {
    let (mut provider, mut id) = (None, None);
    json.object(|json, key| {
        match key {
            "provider" => provider = json.text()?,
            "id" => id = json.text()?,
            _ => _ = json.skip()?,
        }
        Some(())
    })?;
    Some(provider.zip(id).map(|(provider, id)| ModelName {
        provider: provider.into_owned(),
        id: id.into_owned(),
    }))
}

/// The details of a tool beyond this size repeat its text and are of no use to us.
const DETAILS_LIMIT: usize = 256 * 1024;

fn tool_details(result: Raw<'_>) -> Option<Value> {
    let mut details = None;
    field_by_field(result, |json, key| {
        let raw = json.skip()?;
        if key == "details" {
            details = Some(raw);
        }
        Some(())
    });
    let details = details.filter(|raw| raw.len() <= DETAILS_LIMIT && *raw != "null")?;
    Some(value(Some(details)))
}

fn compaction_usage(result: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    field_by_field(result, |json, key| {
        match key {
            "usage" => usage = read_usage(json)?,
            _ => _ = json.skip()?,
        }
        Some(())
    });
    usage
}

/// Looks into an object that was left as it is written; false where there is none.
pub(super) fn field_by_field<'a>(
    raw: Raw<'a>,
    field: impl FnMut(&mut Json<'a>, &str) -> Option<()>,
) -> bool {
    raw.is_some_and(|raw| Json::new(raw).object(field) == Some(true))
}
