//! Lines as spans with roles, so that a terminal, pi and an MCP client draw the same thing.
//!
//! A span is cleaned when it is made: no line ever holds a control character, a tab, a newline or
//! an escape sequence.

use pi_subagents_vocabulary::text;

/// A piece of a line with one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    text: String,
    role: Role,
}

/// The meaning of a piece of a line. The door decides how a role looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Ordinary words.
    Plain,
    /// The name of a window.
    Title,
    /// Text that matters less, such as the calls of tools.
    Muted,
    /// Added lines, and counts of findings.
    Added,
    /// Removed lines.
    Removed,
    /// Failures.
    Failed,
    /// Text that should catch the eye.
    Accent,
    /// Successes.
    Success,
    /// Warnings for a person.
    Warning,
    /// A heading in a text of a model.
    Heading,
    /// Code in it.
    Code,
    /// Words in it that are stressed.
    Emphasis,
    /// Words in it that are stressed even more.
    Strong,
    /// A quotation.
    Quote,
    /// A word of a programming language.
    Keyword,
    /// A text or a number in code.
    Literal,
    /// The part of an added line that is new.
    AddedPart,
    /// The part of a removed line that is gone.
    RemovedPart,
}

/// One line of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line(Vec<Span>);

impl Span {
    /// Makes a span of a text. Characters that could move a cursor or end the line are taken out.
    pub fn new(role: Role, text: &str) -> Self {
        let text = if text.bytes().all(text::is_plain) {
            text.to_owned()
        } else {
            text::clean(text).replace('\n', " ")
        };
        Self { text, role }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the role of the text.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns how many columns of a terminal it takes.
    pub fn width(&self) -> usize {
        text::columns(&self.text)
    }
}

impl Role {
    /// Returns the word for the role, as other programs read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Title => "title",
            Self::Muted => "muted",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Failed => "failed",
            Self::Accent => "accent",
            Self::Success => "success",
            Self::Warning => "warning",
            Self::Heading => "heading",
            Self::Code => "code",
            Self::Emphasis => "emphasis",
            Self::Strong => "strong",
            Self::Quote => "quote",
            Self::Keyword => "keyword",
            Self::Literal => "literal",
            Self::AddedPart => "addedPart",
            Self::RemovedPart => "removedPart",
        }
    }
}

impl Line {
    /// Makes a line of one span.
    pub fn new(role: Role, text: &str) -> Self {
        let span = Span::new(role, text);
        // A vector that grows by itself begins with room for four, and a list has many lines.
        Self(if span.text.is_empty() {
            Vec::new()
        } else {
            vec![span]
        })
    }

    /// Makes an empty line that will have so many spans.
    pub(crate) fn with_room(spans: usize) -> Self {
        Self(Vec::with_capacity(spans))
    }

    /// Returns the line with one more span at its end; an empty span is left out.
    #[must_use]
    pub fn with(mut self, role: Role, text: &str) -> Self {
        self.push(Span::new(role, text));
        self
    }

    /// Returns the spans, from left to right.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Returns the text of the line, without roles.
    pub fn text(&self) -> String {
        self.0.iter().map(Span::text).collect()
    }

    /// Returns how many columns of a terminal it takes.
    pub fn width(&self) -> usize {
        self.0.iter().map(Span::width).sum()
    }

    /// Returns how many bytes of text it holds.
    pub(crate) fn size(&self) -> usize {
        self.0.iter().map(|span| span.text.len()).sum()
    }

    /// Returns whether there is nothing but spaces on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.iter().all(|span| span.text.trim().is_empty())
    }

    /// Returns the line behind a margin of two columns.
    pub(crate) fn indented(&self) -> Self {
        let mut line = Self::new(Role::Plain, "  ");
        line.0.extend_from_slice(&self.0);
        line
    }

    /// Returns the line with another one behind it.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Splits the line behind this number of bytes, which must not divide a character.
    pub(crate) fn split_at(&self, bytes: usize) -> (Self, Self) {
        let (mut front, mut back) = (Self::default(), Self::default());
        let mut left = bytes;
        for span in &self.0 {
            let (before, behind) = span.text.split_at(left.min(span.text.len()));
            left -= before.len();
            for (line, text) in [(&mut front, before), (&mut back, behind)] {
                line.push(Span {
                    text: text.to_owned(),
                    role: span.role,
                });
            }
        }
        (front, back)
    }

    /// Returns the line without spaces at its end.
    pub(crate) fn trimmed(mut self) -> Self {
        while let Some(last) = self.0.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    pub(crate) fn push(&mut self, span: Span) {
        if !span.text.is_empty() {
            self.0.push(span);
        }
    }

    /// Adds all spans of another line.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn extend(&mut self, spans: impl IntoIterator<Item = Span>) {
        for span in spans {
            self.push(span);
        }
    }
}
