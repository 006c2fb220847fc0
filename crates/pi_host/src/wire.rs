//! The messages between pi and the host; `docs/design/pi-door.md` has the table.

use std::path::PathBuf;

use pi_subagents_vocabulary::Usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tracing::debug;

/// The version of these messages; the shim refuses a host with another version. It is raised
/// whenever a change makes a shim and a host of different versions misunderstand each other.
pub const PROTOCOL: u32 = 1;

/// A line that is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// JSON that is no request, notification or response.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// An unknown method.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// Parameters that do not fit the method.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// A bug of ours.
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// A tool or command that could not do its job; the message gives the reason.
pub(super) const FAILED: i32 = -32000;

/// The reason why a request has no result.
#[derive(Debug)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// A line of the other side.
#[derive(Debug)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// An answer to a request of ours; an error counts as no answer.
    Response {
        id: u64,
        result: Option<Value>,
    },
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    #[serde(default)]
    error: Value,
}

impl Incoming {
    /// Logs the method that is called, without its parameters.
    pub(super) fn log(&self) {
        match self {
            Self::Request { id, method, .. } => debug!(%id, method, "pi asks"),
            Self::Notification { method, .. } => debug!(method, "pi tells"),
            Self::Response { id, .. } => debug!(id, "pi answers"),
        }
    }

    /// Reads a line; a line that cannot be read is answered with the error and its id.
    pub(super) fn parse(line: &[u8]) -> Result<Self, (Value, RpcError)> {
        let value: Value = serde_json::from_slice(line).map_err(|error| {
            let message = format!("the line is not JSON: {error}");
            (Value::Null, RpcError::new(PARSE_ERROR, message))
        })?;
        let id = value.get("id").cloned().unwrap_or_default();
        let refused = |message: String| (id.clone(), RpcError::new(INVALID_REQUEST, message));
        if !value.is_object() {
            return Err(refused("a line holds one object".to_owned()));
        }
        let envelope: Envelope =
            serde_json::from_value(value).map_err(|error| refused(error.to_string()))?;
        let is_answer = envelope.result.is_some() || !envelope.error.is_null();
        match (envelope.method, envelope.id) {
            (Some(method), Some(id)) => Ok(Self::Request {
                id,
                method,
                params: envelope.params,
            }),
            (Some(method), None) => Ok(Self::Notification {
                method,
                params: envelope.params,
            }),
            (None, Some(id)) if is_answer => match id.as_u64() {
                Some(id) => Ok(Self::Response {
                    id,
                    result: envelope.result,
                }),
                None => Err(refused("the answer is to no request of ours".to_owned())),
            },
            (None, _) => Err(refused(
                "there is neither a method nor an answer".to_owned(),
            )),
        }
    }
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(super) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(super) fn response(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": error.code, "message": error.message},
        }),
    }
}

/// Writes a message as one line. U+2028 and U+2029 are escaped, because many readers split there
/// too.
pub(super) fn to_line(value: &Value) -> String {
    finished(value.to_string())
}

/// Makes the notification of how a call goes, in the shape of an answer.
pub(super) fn update_line(call_id: &str, text: &str, details: &RawValue) -> Option<String> {
    let update = Notification {
        jsonrpc: "2.0",
        method: "tool/update",
        params: Update {
            content: [TextContent { kind: "text", text }],
            details,
            call_id,
        },
    };
    serde_json::to_string(&update).ok().map(finished)
}

#[derive(Serialize)]
struct Notification<T> {
    jsonrpc: &'static str,
    method: &'static str,
    params: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    content: [TextContent<'a>; 1],
    details: &'a RawValue,
    call_id: &'a str,
}

#[derive(Serialize)]
struct TextContent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

fn finished(mut line: String) -> String {
    if line.contains(['\u{2028}', '\u{2029}']) {
        line = line
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
    }
    line.push('\n');
    line
}

/// Reads the parameters of a method.
pub(super) fn params<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, RpcError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let message = format!("{}: {}", error.path(), error.inner());
        RpcError::new(INVALID_PARAMS, message)
    })
}

/// The shim's facts about the caller.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallerParams {
    pub(super) cwd: PathBuf,
    pub(super) columns: Option<usize>,
    #[serde(default)]
    pub(super) mode: String,
    #[serde(default, rename = "hasUI")]
    pub(super) has_ui: bool,
    #[serde(default)]
    pub(super) trusted: bool,
    #[serde(default)]
    pub(super) has_trust_question: bool,
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) models: Vec<String>,
    #[serde(default)]
    pub(super) active_tools: Vec<String>,
    #[serde(default)]
    pub(super) all_tools: Vec<String>,
    #[serde(default)]
    pub(super) skills: Vec<SkillParams>,
    pub(super) pi: Option<PiParams>,
}

/// A skill that pi has found.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SkillParams {
    pub(super) name: String,
    pub(super) path: PathBuf,
    #[serde(default)]
    pub(super) description: String,
}

/// The command with which pi was started.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiParams {
    pub(super) exec_path: PathBuf,
    pub(super) script: Option<PathBuf>,
    pub(super) version: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecuteParams {
    pub(super) call_id: String,
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Value,
    pub(super) caller: CallerParams,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelParams {
    pub(super) call_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExpandParams {
    pub(super) call_id: String,
    pub(super) expanded: bool,
    #[serde(default)]
    pub(super) columns: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StartParams {
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) has_terminal: bool,
    #[serde(default)]
    pub(super) entries: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IdleParams {
    pub(super) idle: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommandParams {
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: String,
    pub(super) caller: CallerParams,
}

#[derive(Debug, Deserialize)]
pub(super) struct CompleteParams {
    pub(super) command: String,
    #[serde(default)]
    pub(super) prefix: String,
    pub(super) caller: CallerParams,
}

/// Writes consumption as pi counts it. An unknown price is 0 there, because pi has no word for it.
pub(super) fn usage_json(usage: Usage) -> Value {
    json!({
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total(),
        "cost": {
            "input": 0,
            "output": 0,
            "cacheRead": 0,
            "cacheWrite": 0,
            "total": usage.cost.unwrap_or(0.0),
        },
    })
}
