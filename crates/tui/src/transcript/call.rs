//! A tool call with all of its arguments and all of its output.

use std::time::Duration;

use pi_subagents_view::story::CallState;
use pi_subagents_vocabulary::{Part, Timestamp, ToolCall, ToolResult, text};
use serde_json::Value;

/// The number of bytes of one argument or of the output that are held.
const LONGEST: usize = 256 << 10;

/// A tool call, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(super) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    at: Timestamp,
    pub(crate) answer: Option<ToolResult>,
    pub(crate) state: CallState,
    pub(crate) took: Option<Duration>,
    /// The number of bytes of its output that are not held.
    pub(crate) left_out: usize,
}

impl Call {
    pub(super) fn new(call: &ToolCall, at: Timestamp) -> Self {
        Self {
            id: call.id.clone(),
            tool: text::one_line(&text::clean(&call.name)),
            arguments: shortened(&call.arguments),
            at,
            answer: None,
            state: CallState::default(),
            took: None,
            left_out: 0,
        }
    }

    /// Takes the answer of the tool.
    pub(super) fn answer(&mut self, result: &ToolResult, at: Timestamp) {
        let all = result.text();
        let kept = &all[..all.floor_char_boundary(LONGEST)];
        self.left_out = all.len() - kept.len();
        self.state.answer(result);
        self.took = Duration::try_from(at.duration_since(self.at)).ok();
        let images = result.parts.iter().filter_map(|part| match part {
            Part::Image { mime_type } => Some(Part::Image {
                mime_type: mime_type.clone(),
            }),
            _ => None,
        });
        let words = Part::Text(text::clean(kept));
        self.answer = Some(ToolResult {
            parts: std::iter::once(words).chain(images).collect(),
            call_id: result.call_id.clone(),
            tool: result.tool.clone(),
            is_error: result.is_error,
        });
    }

    /// Returns the output of the tool.
    pub(crate) fn output(&self) -> Option<String> {
        self.answer.as_ref().map(ToolResult::text)
    }

    pub(super) fn answer_size(&self) -> usize {
        self.output().map_or(0, |output| output.len())
    }

    pub(super) fn size(&self) -> usize {
        let arguments = self.arguments.to_string().len();
        self.tool.len() + arguments + self.answer_size()
    }

    /// Returns all its texts.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.tool.clone()];
        strings(&self.arguments, &mut texts);
        texts.extend(self.output());
        texts
    }
}

/// Returns arguments without texts that are too long.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(words) => Value::String(text::cut_bytes(words.clone(), LONGEST)),
        Value::Array(values) => values.iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (name.clone(), shortened(value)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Collects the texts of arguments.
fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(words) => texts.push(words.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                texts.push(name.clone());
                strings(value, texts);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => texts.push(value.to_string()),
    }
}
