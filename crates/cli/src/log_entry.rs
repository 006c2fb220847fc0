//! An item of a run's story as `logs`, `session` and `export` print it: a label, perhaps a tool, and
//! a text.

use std::time::Duration;

use pi_subagents_view::Role;
use pi_subagents_view::figures::usage_words;
use pi_subagents_view::story::{self, Remark, RemarkKind, What};
use pi_subagents_vocabulary::{Ending, RunSummary, text};
use serde_json::Value;

use crate::run_table::role_of;

/// Something that happened, as it reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogEntry {
    pub(crate) kind: EntryKind,
    /// One word for its kind.
    pub(crate) label: String,
    pub(crate) role: Role,
    /// The tool that was called or answered.
    pub(crate) tool: Option<String>,
    pub(crate) words: String,
}

/// The kinds of entries that are printed in different ways.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EntryKind {
    /// The sub-agent got a message.
    Prompt,
    /// The model wrote Markdown.
    Words,
    /// The model reasoned.
    Thought,
    /// The model called a tool with these arguments.
    Call(Value),
    /// A tool answered.
    Answer,
    /// Something about the child, which is no part of the conversation.
    Child,
    /// Anything else that a person should know.
    Remark,
}

impl LogEntry {
    fn new(kind: EntryKind, label: &str, role: Role, words: impl Into<String>) -> Self {
        Self {
            kind,
            label: label.to_owned(),
            role,
            tool: None,
            words: words.into(),
        }
    }

    fn of_tool(self, tool: &str) -> Self {
        Self {
            tool: Some(text::one_line(tool)),
            ..self
        }
    }

    /// Returns the entry of an item, if it has one. `summary` is that of the run so far.
    pub(crate) fn of(what: &What<'_>, summary: &RunSummary) -> Option<Self> {
        Some(match what {
            What::Task(words) => Self::new(EntryKind::Prompt, "prompt", Role::Accent, *words),
            What::Prompt(words) => {
                Self::new(EntryKind::Prompt, "prompt", Role::Accent, words.as_ref())
            }
            What::Words(words) => Self::new(EntryKind::Words, "assistant", Role::Title, *words),
            What::Picture(mime_type) => {
                let words = story::picture(mime_type);
                Self::new(EntryKind::Words, "assistant", Role::Title, words)
            }
            What::Thought(words) => Self::new(EntryKind::Thought, "thinking", Role::Muted, *words),
            What::Call(call) => {
                let kind = EntryKind::Call(call.arguments.clone());
                let entry = Self::new(kind, "tool call", Role::Muted, call.arguments.to_string());
                entry.of_tool(&call.name)
            }
            What::Answer(result) => {
                let (label, role) = if result.is_error {
                    ("failed", Role::Failed)
                } else {
                    ("result", Role::Muted)
                };
                let words = story::words(&result.parts);
                Self::new(EntryKind::Answer, label, role, words).of_tool(&result.tool)
            }
            What::Turn(answer) => {
                let error = answer.error.as_ref()?;
                Self::new(EntryKind::Remark, "error", Role::Failed, error)
            }
            What::Retry(retry) => {
                let words = if retry.is_explained {
                    retry.brief()
                } else {
                    retry.words()
                };
                // The label says already that it is a retry.
                let words = words.trim_start_matches("retry ");
                Self::new(EntryKind::Remark, "retry", Role::Warning, words)
            }
            What::Remark(remark) => Self::of_remark(remark),
            What::Ended(ending) => Self::of_end(ending, summary),
            What::Begun { .. } | What::Done { .. } => return None,
        })
    }

    /// Returns the entry of a warning that is in no record.
    pub(crate) fn warning(words: &str) -> Self {
        Self::of_remark(&Remark {
            kind: RemarkKind::Warning,
            text: words.into(),
        })
    }

    fn of_remark(remark: &Remark<'_>) -> Self {
        let kind = match remark.kind {
            RemarkKind::Started | RemarkKind::Printed | RemarkKind::Complained => EntryKind::Child,
            _ => EntryKind::Remark,
        };
        let label = text::one_line(remark.label());
        Self::new(kind, &label, remark.role(), remark.text.as_ref())
    }

    fn of_end(ending: &Ending, summary: &RunSummary) -> Self {
        let status = ending.status();
        let elapsed = summary
            .started_at
            .zip(summary.ended_at)
            .map(|(start, end)| Duration::try_from(end.duration_since(start)).unwrap_or_default());
        let usage = summary.usage;
        let calls = Some(summary.tool_calls);
        let used = usage_words(calls, usage.total(), usage.cost(), elapsed);
        let words = [ending.message().unwrap_or_default(), used];
        let words = words.iter().filter(|words| !words.is_empty());
        let words: Vec<&str> = words.map(String::as_str).collect();
        let label = status.as_str();
        Self::new(EntryKind::Remark, label, role_of(status), words.join("\n"))
    }
}
