//! A message of a conversation as `session --json` has it.

use pi_subagents_vocabulary::{Message, Part, StopReason, Timestamp, Usage, moment};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// One message with its time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageJson {
    role: String,
    /// The time at which it was seen.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    time: Timestamp,
    parts: Vec<PartJson>,
    #[serde(flatten)]
    answer: AnswerJson,
}

/// The fields that only some messages have.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnswerJson {
    /// The tool that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<StopReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
enum PartJson {
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    ToolCall {
        id: String,
        name: String,
        arguments: Value,
    },
    Image {
        mime_type: String,
    },
}

impl MessageJson {
    /// Makes the JSON of a message; `None` for the child's instructions. `prompt` is that of the
    /// task, if this is the first message, which may have a transcript and files before it.
    pub(crate) fn of(message: &Message, at: Timestamp, prompt: Option<&str>) -> Option<Self> {
        let (role, answer) = match message {
            Message::System(_) => return None,
            Message::User(_) => ("user", AnswerJson::default()),
            Message::Other { role, .. } => (role.as_str(), AnswerJson::default()),
            Message::Assistant(answer) => {
                let fields = AnswerJson {
                    provider: answer.provider.clone(),
                    model: answer.model.clone(),
                    stop_reason: answer.stop_reason.clone(),
                    error_message: answer.error.clone(),
                    usage: known(answer.usage),
                    ..AnswerJson::default()
                };
                ("assistant", fields)
            }
            Message::ToolResult(result) => {
                let fields = AnswerJson {
                    tool_name: Some(result.tool.clone()),
                    call_id: Some(result.call_id.clone()),
                    is_error: Some(result.is_error),
                    ..AnswerJson::default()
                };
                ("toolResult", fields)
            }
        };
        let parts = match (message, prompt) {
            (Message::User(_), Some(prompt)) => vec![PartJson::Text {
                text: prompt.to_owned(),
            }],
            _ => message.parts().iter().map(PartJson::from).collect(),
        };
        Some(Self {
            role: role.to_owned(),
            time: at,
            parts,
            answer,
        })
    }
}

fn known(usage: Usage) -> Option<Usage> {
    (usage != Usage::default()).then_some(usage)
}

impl From<&Part> for PartJson {
    fn from(part: &Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { text: text.clone() },
            Part::Thinking(text) => Self::Thinking { text: text.clone() },
            Part::ToolCall(call) => Self::ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            },
            Part::Image { mime_type } => Self::Image {
                mime_type: mime_type.clone(),
            },
        }
    }
}
