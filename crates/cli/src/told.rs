//! Puts something that happened in a run into words: a label, perhaps a tool, and a text.

use std::time::Duration;

use pi_subagents_view::Role;
use pi_subagents_view::figures::usage_words;
use pi_subagents_vocabulary::{Ending, RunSummary, Runner, text};

use crate::run_table::role_of;
use pi_subagents_runs::happened::What;

/// Something that happened, as it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// One word for its kind.
    pub(crate) label: String,
    pub(crate) role: Role,
    /// The tool that was called or answered.
    pub(crate) tool: Option<String>,
    pub(crate) words: String,
    /// This is true if the words are Markdown.
    pub(crate) is_markdown: bool,
}

impl Told {
    fn new(label: &str, role: Role, words: impl Into<String>) -> Self {
        Self {
            label: label.to_owned(),
            role,
            tool: None,
            words: words.into(),
            is_markdown: false,
        }
    }

    fn of_tool(self, tool: &str) -> Self {
        Self {
            tool: Some(text::one_line(tool)),
            ..self
        }
    }

    fn in_markdown(self) -> Self {
        Self {
            is_markdown: true,
            ..self
        }
    }

    /// Returns the text of an event. `summary` is that of the run so far.
    pub(crate) fn of(what: &What, summary: &RunSummary) -> Self {
        match what {
            What::Started(Runner::Pi) => Self::new("started", Role::Muted, "a pi process"),
            What::Started(Runner::Embedded) => {
                Self::new("started", Role::Muted, "the embedded agent")
            }
            What::Told(words) => Self::new("prompt", Role::Accent, words),
            What::Thought(words) => Self::new("thinking", Role::Muted, words),
            What::Said(words) => Self::new("assistant", Role::Title, words).in_markdown(),
            What::Called(call) => {
                Self::new("call", Role::Muted, call.arguments.to_string()).of_tool(&call.name)
            }
            What::Answered {
                tool,
                is_error: false,
                text,
            } => Self::new("result", Role::Muted, text).of_tool(tool),
            What::Answered { tool, text, .. } => {
                Self::new("failed", Role::Failed, text).of_tool(tool)
            }
            What::ModelFailed(error) => Self::new("error", Role::Failed, error),
            What::Other { role, text } => {
                Self::new(&text::one_line(role), Role::Accent, text.clone())
            }
            What::Warned(words) => Self::new("warning", Role::Warning, words),
            What::Gated { words, is_failed } => {
                let role = if *is_failed {
                    Role::Failed
                } else {
                    Role::Muted
                };
                // The label says already that it is a gate.
                let words = words.strip_prefix("gate").unwrap_or(words);
                Self::new("gate", role, words.trim_start_matches([':', ' ']))
            }
            What::Printed(words) => Self::new("stdout", Role::Muted, words),
            What::Complained(words) => Self::new("stderr", Role::Warning, words),
            What::Retried {
                attempt,
                max_attempts,
                error,
            } => {
                let words = format!("attempt {attempt} of {max_attempts} after: {error}");
                Self::new("retry", Role::Warning, words)
            }
            What::Compacted => {
                Self::new("compacted", Role::Muted, "the conversation was shortened")
            }
            What::Ended(ending) => Self::of_end(ending, summary),
        }
    }

    fn of_end(ending: &Ending, summary: &RunSummary) -> Self {
        let status = ending.status();
        let elapsed = summary
            .started_at
            .zip(summary.ended_at)
            .map(|(start, end)| Duration::try_from(end.duration_since(start)).unwrap_or_default());
        let usage = summary.usage;
        let calls = Some(summary.tool_calls);
        let used = usage_words(calls, usage.total(), usage.cost, elapsed);
        let words = [ending.message().unwrap_or_default(), used];
        let words = words.iter().filter(|words| !words.is_empty());
        let words: Vec<&str> = words.map(String::as_str).collect();
        Self::new(status.as_str(), role_of(status), words.join("\n"))
    }
}
