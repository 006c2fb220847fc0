//! The commands that we send to a child.

use serde::Serialize;

use super::ModelName;
use crate::ThinkingLevel;

/// One command for a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Starts the work.
    Prompt {
        /// The id its response carries.
        id: String,
        /// The prompt, byte for byte.
        message: String,
    },
    /// Sends a message to a child at work, which gets it before its next turn.
    Steer {
        /// The id its response carries.
        id: String,
        /// The message.
        message: String,
    },
    /// Ends the turn; the child settles and keeps its transcript.
    Abort,
    /// Asks which model will answer.
    GetState {
        /// The id its response carries.
        id: String,
    },
    /// Asks which models could answer.
    GetModels {
        /// The id its response carries.
        id: String,
    },
    /// Ends the wait before the model is asked again; the child settles.
    AbortRetry,
    /// Changes the model that answers from the next prompt on.
    SetModel {
        /// The id its response carries.
        id: String,
        /// The model.
        model: ModelName,
    },
    /// Changes how much the model thinks.
    SetThinking {
        /// The id its response carries.
        id: String,
        /// The level; the child takes the nearest one that its model has.
        level: ThinkingLevel,
    },
    /// Takes all tools away but the report; the embedded agent alone knows it.
    BlockTools {
        /// The id its response carries.
        id: String,
        /// The answers after which it holds, the last of which cannot call tools any more; 0 for at
        /// once.
        after: u32,
        /// The reason that refused calls show.
        reason: String,
    },
    /// Shortens the conversation.
    Compact {
        /// The id its response carries.
        id: String,
    },
    /// Answers a dialog of an extension with words or an option.
    AnswerDialog {
        /// The dialog's id.
        id: String,
        /// The answer.
        value: String,
    },
    /// Answers a dialog that wants yes or no.
    ConfirmDialog {
        /// The dialog's id.
        id: String,
        /// The answer.
        confirmed: bool,
    },
    /// Cancels a dialog of an extension.
    CancelDialog {
        /// The dialog's id.
        id: String,
    },
}

impl Command {
    /// Returns the command as one line, with its newline.
    pub fn to_line(&self) -> String {
        let wire = match self {
            Self::Prompt { id, message } => Wire::Prompt { id, message },
            Self::Steer { id, message } => Wire::Steer { id, message },
            Self::Abort => Wire::Abort,
            Self::GetState { id } => Wire::GetState { id },
            Self::GetModels { id } => Wire::GetAvailableModels { id },
            Self::AbortRetry => Wire::AbortRetry,
            Self::SetModel { id, model } => Wire::SetModel {
                id,
                provider: &model.provider,
                model_id: &model.id,
            },
            Self::SetThinking { id, level } => Wire::SetThinkingLevel {
                id,
                level: level.as_str(),
            },
            Self::BlockTools { id, after, reason } => Wire::BlockTools {
                id,
                after: *after,
                reason,
            },
            Self::Compact { id } => Wire::Compact { id },
            Self::AnswerDialog { id, value } => Wire::ExtensionUiResponse {
                id,
                value: Some(value),
                confirmed: None,
                cancelled: None,
            },
            Self::ConfirmDialog { id, confirmed } => Wire::ExtensionUiResponse {
                id,
                value: None,
                confirmed: Some(*confirmed),
                cancelled: None,
            },
            Self::CancelDialog { id } => Wire::ExtensionUiResponse {
                id,
                value: None,
                confirmed: None,
                cancelled: Some(true),
            },
        };
        // Texts and booleans can always be written.
        let mut line = serde_json::to_string(&wire).unwrap_or_default();
        line.push('\n');
        line
    }
}

#[derive(Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Wire<'a> {
    Prompt {
        id: &'a str,
        message: &'a str,
    },
    Steer {
        id: &'a str,
        message: &'a str,
    },
    Abort,
    GetState {
        id: &'a str,
    },
    GetAvailableModels {
        id: &'a str,
    },
    AbortRetry,
    SetModel {
        id: &'a str,
        provider: &'a str,
        model_id: &'a str,
    },
    SetThinkingLevel {
        id: &'a str,
        level: &'a str,
    },
    BlockTools {
        id: &'a str,
        #[serde(skip_serializing_if = "is_at_once")]
        after: u32,
        reason: &'a str,
    },
    Compact {
        id: &'a str,
    },
    ExtensionUiResponse {
        id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmed: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cancelled: Option<bool>,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_at_once(after: &u32) -> bool {
    *after == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_one_line_each_whatever_they_say() {
        let lines: String = [
            Command::Prompt {
                id: "1".into(),
                message: "-x @y\n\u{2028}\"".into(),
            },
            Command::Steer {
                id: "2".into(),
                message: "left".into(),
            },
            Command::Abort,
            Command::GetState { id: "3".into() },
            Command::GetModels { id: "4".into() },
            Command::AbortRetry,
            Command::SetModel {
                id: "5".into(),
                model: ModelName {
                    provider: "a".into(),
                    id: "x/y".into(),
                },
            },
            Command::SetThinking {
                id: "6".into(),
                level: ThinkingLevel::Low,
            },
            Command::BlockTools {
                id: "8".into(),
                after: 0,
                reason: "enough".into(),
            },
            Command::BlockTools {
                id: "9".into(),
                after: 2,
                reason: "enough".into(),
            },
            Command::Compact { id: "7".into() },
            Command::AnswerDialog {
                id: "q".into(),
                value: "fits".into(),
            },
            Command::ConfirmDialog {
                id: "q".into(),
                confirmed: false,
            },
            Command::CancelDialog { id: "q".into() },
        ]
        .iter()
        .map(Command::to_line)
        .collect();
        insta::assert_snapshot!(lines, @r#"
        {"type":"prompt","id":"1","message":"-x @y\n \""}
        {"type":"steer","id":"2","message":"left"}
        {"type":"abort"}
        {"type":"get_state","id":"3"}
        {"type":"get_available_models","id":"4"}
        {"type":"abort_retry"}
        {"type":"set_model","id":"5","provider":"a","modelId":"x/y"}
        {"type":"set_thinking_level","id":"6","level":"low"}
        {"type":"block_tools","id":"8","reason":"enough"}
        {"type":"block_tools","id":"9","after":2,"reason":"enough"}
        {"type":"compact","id":"7"}
        {"type":"extension_ui_response","id":"q","value":"fits"}
        {"type":"extension_ui_response","id":"q","confirmed":false}
        {"type":"extension_ui_response","id":"q","cancelled":true}
        "#);
    }
}
