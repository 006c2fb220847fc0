//! The shape of every preview: the tool, its subject, and the counts.

use pi_subagents_vocabulary::text;
use unicode_width::UnicodeWidthStr;

use super::CallOutcome;
use super::outcome::FAILED;
use crate::paint::fit;
use crate::{Line, Role, Span};

/// The sign between a tool and its subject.
pub(super) const ARROW: &str = " → ";

/// The number of bytes of a subject or of a tool's name that are held. Models decide how long they
/// are, and no screen shows more.
const MAX_BYTES: usize = 4 << 10;

/// The number of columns of a subject that stay, even if the counts do not fit then.
const MIN_SUBJECT: usize = 12;

/// A preview before it is cut: the subject is shortened before the counts behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sentence {
    tool: String,
    subject: Option<String>,
    counts: Vec<Span>,
}

impl Sentence {
    /// Begins a preview with the tool's name.
    pub(super) fn new(tool: &str) -> Self {
        Self {
            tool: text::clean(beginning(tool)),
            subject: None,
            counts: Vec::new(),
        }
    }

    /// Adds the subject of the call, behind an arrow.
    pub(super) fn about(mut self, subject: &str) -> Self {
        let subject = text::clean(beginning(subject)).replace('\n', " ");
        self.subject = Some(format!("{ARROW}{subject}"));
        self
    }

    /// Adds the subject of the call, behind a space.
    pub(super) fn with_arguments(mut self, arguments: &str) -> Self {
        self.subject = Some(format!(" {}", text::clean(beginning(arguments))));
        self
    }

    /// Adds a count at the end.
    pub(super) fn count(mut self, role: Role, text: &str) -> Self {
        self.counts.push(Span::new(role, text));
        self
    }

    /// Returns the line, cut to a number of columns. If the call failed, the counts of what it
    /// would have done are left out.
    pub(super) fn fitted(&self, outcome: &CallOutcome, width: usize) -> Line {
        let is_failed = outcome.is_failed();
        let (lead, role) = if is_failed {
            (FAILED, Role::Failed)
        } else {
            ("", Role::Muted)
        };
        let is_told = |count: &&Span| !is_failed || count.role() == Role::Muted;
        let behind: Vec<Span> = self
            .counts
            .iter()
            .filter(is_told)
            .cloned()
            .chain(outcome.tail(width))
            .collect();
        let taken: usize = behind.iter().map(Span::width).sum();
        let begun = format!("{lead}{}", self.tool);
        let room = width.saturating_sub(begun.width() + taken);
        let subject = self.subject.as_deref().unwrap_or_default();
        let subject = text::cut_columns(subject, room.max(MIN_SUBJECT));
        let mut line = if is_failed {
            Line::new(role, &begun).with(Role::Muted, &subject)
        } else {
            Line::new(role, &format!("{begun}{subject}"))
        };
        line.extend(behind);
        fit(&line, width)
    }

    /// Returns how many bytes it holds, about.
    pub(super) fn size(&self) -> usize {
        self.tool.len() + self.subject.as_ref().map_or(0, String::len)
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}
