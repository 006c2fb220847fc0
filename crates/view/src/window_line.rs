//! One line of a window: words or a call, short and whole.

use pi_subagents_vocabulary::text;

use crate::room::Room;
use crate::{Line, Role};

/// A line of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowLine {
    /// The kind of the line: words or a call.
    pub kind: LineKind,
    /// The line itself.
    pub line: Line,
    /// The same line without being cut, if that is more. If several lines belong together, the
    /// first has all of them, and the others have none.
    pub whole: Option<Vec<Line>>,
}

/// The kind of a line of a window: words or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The child's words, and our words about it.
    Text,
    /// The call of a tool, and its outcome.
    Tool,
}

impl LineKind {
    /// Returns the word for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Tool => "tool",
        }
    }
}

impl WindowLine {
    /// Makes a line of words, or `None` if nothing is left of them.
    pub(crate) fn words(role: Role, words: &str, room: Room) -> Option<Self> {
        // A line of a megabyte is cut before it is cleaned and once more when its size is known.
        let beginning = &words[..words.floor_char_boundary(8 * room.line_bytes)];
        let clean = text::clean(last_overprint(beginning));
        let clean = text::cut_bytes(clean.trim_end().to_owned(), room.line_bytes);
        (!clean.is_empty()).then(|| Self {
            kind: LineKind::Text,
            line: Line::new(role, &clean),
            whole: None,
        })
    }

    /// Makes a line of a model's text, or `None` if it is empty.
    pub(crate) fn speech(line: Line, room: Room) -> Option<Self> {
        let line = if line.size() > room.line_bytes {
            Line::new(Role::Plain, &text::cut_bytes(line.text(), room.line_bytes))
        } else {
            line
        };
        (!line.is_blank()).then_some(Self {
            kind: LineKind::Text,
            line,
            whole: None,
        })
    }

    /// Makes the lines of a call. The first line holds the whole call.
    pub(crate) fn call(lines: Vec<Line>, whole: Vec<Line>) -> Vec<Self> {
        let mut whole = (lines != whole).then_some(whole);
        lines
            .into_iter()
            .map(|line| Self {
                kind: LineKind::Tool,
                line,
                whole: whole.as_mut().map(std::mem::take),
            })
            .collect()
    }

    /// Returns the lines for a reader who wants to see all of it.
    pub fn whole(&self) -> &[Line] {
        self.whole
            .as_deref()
            .unwrap_or(std::slice::from_ref(&self.line))
    }

    pub(crate) fn size(&self) -> usize {
        let whole = self.whole.iter().flatten();
        self.line.size() + whole.map(Line::size).sum::<usize>()
    }

    /// Returns the text without roles.
    pub fn text(&self) -> String {
        self.line.text()
    }
}

/// Returns the last state of a line that writes over itself, as a progress bar does.
fn last_overprint(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_progress_bar_the_last_state_is_left() {
        assert_eq!(
            WindowLine::words(Role::Plain, "10%\r20%\r30%\r", Room::ROLLING)
                .unwrap()
                .text(),
            "30%"
        );
        assert_eq!(
            WindowLine::words(Role::Plain, " \u{1b}[0m\t ", Room::ROLLING),
            None
        );
    }
}
