//! The answer to a command.

use serde::Serialize;
use serde_json::Value;

/// Pi's `response` record.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "response")]
pub(super) struct Response<'a> {
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) id: &'a Value,
    pub(super) command: &'a str,
    pub(super) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}
