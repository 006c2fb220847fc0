//! Writes the messages to be summarized as text, so that the model does not go on talking.

use std::rc::Rc;

use serde_json::Value;

use super::Plan;
use crate::message::{AssistantMessage, Block, Message, joined_text};

pub(super) const SYSTEM: &str = include_str!("../../prompts/summary-system.md");
const INSTRUCTIONS: &str = include_str!("../../prompts/summary.md");
/// A summary needs no more of a result.
const RESULT_CHARACTERS: usize = 2000;

/// Returns the question to the model; the conversation in it takes at most `room` bytes.
pub(super) fn question(plan: &Plan, focus: Option<&str>, room: usize) -> String {
    let talk = within(transcript(&plan.summarized), room);
    let mut text = format!("<conversation>\n{talk}\n</conversation>\n\n");
    if let Some(earlier) = &plan.earlier {
        text.extend([
            "What was said before it is known only by this summary; take over what still matters:\n<summary>\n",
            earlier,
            "\n</summary>\n\n",
        ]);
    }
    text.push_str(INSTRUCTIONS.trim());
    if let Some(focus) = focus {
        text.extend(["\n\nPay special attention to: ", focus]);
    }
    text
}

/// Returns the answer of the model, with the files that were touched.
pub(super) fn complete(said: &str, plan: &Plan) -> String {
    let mut summary = said.trim().to_owned();
    for (tag, files) in [
        ("read-files", &plan.read_files),
        ("modified-files", &plan.modified_files),
    ] {
        if !files.is_empty() {
            let list = files.join("\n");
            summary.extend(["\n\n<", tag, ">\n", &list, "\n</", tag, ">"]);
        }
    }
    summary
}

fn transcript(messages: &[Rc<Message>]) -> String {
    let parts: Vec<String> = messages.iter().filter_map(|one| as_text(one)).collect();
    parts.join("\n\n")
}

fn as_text(message: &Message) -> Option<String> {
    match message {
        Message::User(user) => Some(format!("[User] {}", joined_text(&user.content))),
        Message::Assistant(answer) => Some(answer_lines(answer)),
        Message::ToolResult(result) => {
            let text = joined_text(&result.content);
            Some(format!(
                "[Result of {}] {}",
                result.tool_name,
                within(text, RESULT_CHARACTERS)
            ))
        }
        Message::Other(message) => Some(format!("[Note] {message}")),
        Message::System(_) | Message::CompactionSummary(_) => None,
    }
}

fn answer_lines(answer: &AssistantMessage) -> String {
    let mut parts = Vec::new();
    for block in &answer.content {
        match block {
            Block::Text { text, .. } => parts.push(format!("[Agent] {text}")),
            Block::Thinking { thinking, .. } if !thinking.is_empty() => {
                parts.push(format!("[Agent thinks] {thinking}"));
            }
            Block::ToolCall(call) => {
                let arguments = match &call.arguments {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                parts.push(format!("[Agent calls {}] {arguments}", call.name));
            }
            Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {}
        }
    }
    parts.join("\n\n")
}

/// Returns the beginning and the end of a text that is too long.
fn within(text: String, bytes: usize) -> String {
    if text.len() <= bytes {
        return text;
    }
    let head = text.floor_char_boundary(bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 2);
    format!(
        "{}\n[… {} bytes left out …]\n{}",
        &text[..head],
        tail - head,
        &text[tail..]
    )
}
