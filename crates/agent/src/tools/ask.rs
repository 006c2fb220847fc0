//! `ask_parent`: how a sub-agent asks whoever gave it its task.

use serde_json::Value;

use super::{ToolError, ToolOutput, ToolResult};
use crate::abort::Aborted;
use crate::dialogs::Dialogs;

/// Asks, and waits for the answer.
pub(super) async fn run(
    question: Value,
    dialogs: Option<&Dialogs>,
    aborted: &Aborted,
) -> ToolResult {
    let dialogs = dialogs.ok_or_else(|| ToolError::new("nobody can be asked"))?;
    match dialogs.ask(&question, aborted).await {
        Some(answer) => Ok(ToolOutput::text(answer)),
        None => Err(ToolError::aborted()),
    }
}
