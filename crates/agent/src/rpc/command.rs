//! The commands of pi's RPC protocol that the agent understands: those that the engine sends,
//! those that a change of the model needs, and those that adapters for editors ask for. `block_tools` is ours: a pi gets it from an extension. The reasons are in `docs/design/embedded-agent.md`.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::message::Block;

/// A line from the client.
#[derive(Debug)]
pub(super) struct Command {
    /// Any value; it is returned with the answer.
    pub(super) id: Value,
    /// The name as it came.
    pub(super) name: String,
    pub(super) request: Result<Request, String>,
}

/// A command with its arguments.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Request {
    Prompt {
        message: String,
        #[serde(default)]
        images: Vec<Block>,
        streaming_behavior: Option<StreamingBehavior>,
    },
    Steer {
        message: String,
    },
    FollowUp {
        message: String,
    },
    Abort,
    AbortRetry,
    GetState,
    GetMessages,
    GetSessionStats,
    GetCommands,
    GetAvailableThinkingLevels,
    SwitchSession {
        session_path: PathBuf,
    },
    GetAvailableModels,
    SetModel {
        provider: String,
        model_id: String,
    },
    SetThinkingLevel {
        level: String,
    },
    BlockTools {
        reason: String,
        /// The answers that may still call tools, and the one whose calls are refused.
        #[serde(default)]
        after: u32,
    },
    ExtensionUiResponse {
        value: Option<String>,
    },
    Compact {
        custom_instructions: Option<String>,
    },
}

/// The treatment of a prompt that comes while the agent works.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StreamingBehavior {
    Steer,
    FollowUp,
}

const KNOWN: [&str; 17] = [
    "prompt",
    "steer",
    "follow_up",
    "abort",
    "abort_retry",
    "get_state",
    "get_messages",
    "get_session_stats",
    "get_commands",
    "get_available_thinking_levels",
    "switch_session",
    "get_available_models",
    "set_model",
    "set_thinking_level",
    "block_tools",
    "extension_ui_response",
    "compact",
];

impl Command {
    /// Reads a line; an error gives the reason why it is no JSON.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| format!("Failed to parse command: {error}"))?;
        let name = match &value["type"] {
            Value::String(name) => name.clone(),
            Value::Null => "undefined".to_owned(),
            other => other.to_string(),
        };
        let request = if KNOWN.contains(&name.as_str()) {
            serde_json::from_value(value.clone())
                .map_err(|error| format!("Invalid command: {error}"))
        } else {
            Err(format!("Unknown command: {name}"))
        };
        Ok(Self {
            id: value["id"].clone(),
            name,
            request,
        })
    }
}
