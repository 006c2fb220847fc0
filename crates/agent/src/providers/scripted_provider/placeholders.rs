//! The placeholders of a script: `{{prompt}}`, `{{lastToolResult.head:5}}` and so on.

use std::rc::Rc;

use serde_json::Value;

use crate::message::{Message, ToolResultMessage, joined_text};

/// The conversation since the last prompt, as a script sees it.
pub(super) struct Scene<'a> {
    pub(super) prompt: &'a str,
    /// The number of prompts so far. It tells two equal prompts apart.
    pub(super) prompts: usize,
    results: Vec<&'a ToolResultMessage>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(messages: &'a [Rc<Message>]) -> Self {
        let mut scene = Self {
            prompt: "",
            prompts: 0,
            results: Vec::new(),
        };
        for message in messages {
            match &**message {
                Message::User(user) => {
                    scene.prompts += 1;
                    scene.prompt = first_text(&user.content);
                    scene.results.clear();
                }
                Message::ToolResult(result) => scene.results.push(result),
                Message::System(_)
                | Message::Assistant(_)
                | Message::CompactionSummary(_)
                | Message::Other(_) => {}
            }
        }
        scene
    }

    /// Returns the text of the last tool result; empty if there is none.
    pub(super) fn last_result(&self) -> String {
        self.results
            .last()
            .map(|result| text_of(result))
            .unwrap_or_default()
    }

    pub(super) fn last_tool(&self) -> Option<&str> {
        self.results.last().map(|result| result.tool_name.as_str())
    }

    /// Replaces every placeholder. Other text in braces stays as it is.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            filled.push_str(before);
            match after.split_once("}}") {
                Some((name, remaining)) if self.value(name).is_some() => {
                    filled.push_str(&self.value(name).unwrap_or_default());
                    rest = remaining;
                }
                _ => {
                    filled.push_str("{{");
                    rest = after;
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// Fills every string inside a JSON value.
    pub(super) fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(name, field)| (name.clone(), self.fill_value(field)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        let name = name.trim();
        if let Some(rest) = name.strip_prefix("toolResult.") {
            let (tool, view) = rest.split_once('.').unwrap_or((rest, ""));
            let mut latest = self.results.iter().rev();
            let result = latest.find(|result| result.tool_name == tool);
            return view_of(
                &result.map(|result| text_of(result)).unwrap_or_default(),
                view,
            );
        }
        let (source, view) = name.split_once('.').unwrap_or((name, ""));
        match source {
            "prompt" => view_of(self.prompt, view),
            "lastToolResult" => view_of(&self.last_result(), view),
            _ => None,
        }
    }
}

/// Returns the whole text, or `lines` (how many), `first` (line), `last` (line), `head:N` (lines).
fn view_of(text: &str, view: &str) -> Option<String> {
    if view.is_empty() {
        return Some(text.to_owned());
    }
    let body = without_notice(text);
    Some(match view.split_once(':') {
        None => match view {
            "lines" => body.lines().count().to_string(),
            "first" => body.lines().next().unwrap_or_default().to_owned(),
            "last" => body.lines().last().unwrap_or_default().to_owned(),
            _ => return None,
        },
        Some(("head", count)) => {
            let count = count.parse().ok()?;
            let lines: Vec<&str> = body.lines().take(count).collect();
            lines.join("\n")
        }
        Some(_) => return None,
    })
}

/// Removes the line in brackets with which tools end a cut result, because it is not part of the
/// findings.
fn without_notice(text: &str) -> &str {
    match text.rsplit_once("\n\n[") {
        Some((body, notice)) if notice.ends_with(']') => body,
        _ => text,
    }
}

fn text_of(result: &ToolResultMessage) -> String {
    joined_text(&result.content)
}

fn first_text(blocks: &[crate::message::Block]) -> &str {
    blocks
        .iter()
        .find_map(|block| match block {
            crate::message::Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .unwrap_or_default()
}
