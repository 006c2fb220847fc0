//! Calls tools in a directory of their own and shows the view of the model.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tokio::sync::mpsc;

use super::{Guarded, ModelInUse, ToolOutput, ToolSurroundings, Updates, execute, find_tool};
use crate::abort::AbortSwitch;
use crate::message::{Block, ToolCall};

/// Returns the surroundings of a tool that works in `directory`.
pub(super) fn surroundings(directory: &Path) -> ToolSurroundings {
    ToolSurroundings {
        cwd: directory.to_owned(),
        home: directory.join("home"),
        guarded: Guarded::default(),
        commands: None,
        output_schema: None,
        dialogs: None,
        run_directory: None,
        variables: BTreeMap::from([
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("TMPDIR".to_owned(), directory.display().to_string()),
        ]),
        session_id: "session".to_owned(),
        session_file: None,
        model: ModelInUse {
            provider: "scripted".to_owned(),
            id: "tour".to_owned(),
            thinking: "off".to_owned(),
            sees_images: true,
        },
    }
}

/// The outcome of a call.
pub(super) struct Called {
    pub(super) output: ToolOutput,
    pub(super) is_error: bool,
    pub(super) updates: Vec<ToolOutput>,
}

impl Called {
    /// Returns the text of the result, marked if it is an error.
    pub(super) fn text(&self) -> String {
        let text = match &self.output.content[..] {
            [Block::Text { text, .. }, ..] => text.as_str(),
            _ => "",
        };
        let mark = if self.is_error { "error: " } else { "" };
        format!("{mark}{text}")
    }
}

/// Calls a tool in `directory`.
pub(super) async fn call(directory: &Path, tool: &str, arguments: Value) -> Called {
    call_until(directory, tool, arguments, &AbortSwitch::new()).await
}

/// Calls a tool that `switch` can stop.
pub(super) async fn call_until(
    directory: &Path,
    tool: &str,
    arguments: Value,
    switch: &AbortSwitch,
) -> Called {
    let call = ToolCall {
        id: "call".to_owned(),
        name: tool.to_owned(),
        arguments,
        ..ToolCall::default()
    };
    let (updates, mut received) = mpsc::channel(64);
    let result = execute(
        find_tool(tool).unwrap(),
        &call,
        &surroundings(directory),
        &switch.watch(),
        &Updates::new(0, updates),
    )
    .await;
    let mut seen = Vec::new();
    while let Some(update) = received.recv().await {
        seen.push(update.output);
    }
    let is_error = result.is_err();
    Called {
        output: result.unwrap_or_else(|error| ToolOutput::failure(error.to_string())),
        is_error,
        updates: seen,
    }
}
