//! The lines of one window, bounded in number and size.

use std::collections::VecDeque;

use pi_subagents_delegation::text;

use crate::{Line, Role};

/// How much one window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// How many lines.
    pub lines: usize,
    /// How many bytes of text.
    pub bytes: usize,
    /// How much of one line.
    pub line_bytes: usize,
}

impl Room {
    /// For a view of the newest lines, each cut to the width of a terminal unless it is expanded.
    pub const ROLLING: Self = Self {
        lines: 500,
        bytes: 128 << 10,
        line_bytes: 32 << 10,
    };

    /// For whoever reads a run from its beginning.
    pub const WHOLE: Self = Self {
        lines: 100_000,
        bytes: 32 << 20,
        line_bytes: 64 << 10,
    };

    /// For whoever wants to know just what a run does now.
    pub const LAST_LINE: Self = Self {
        lines: 1,
        bytes: 2 << 10,
        line_bytes: 512,
    };
}

/// A line of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowLine {
    /// Whether it shows words or a call.
    pub kind: LineKind,
    /// What it says.
    pub line: Line,
    /// The same without being cut, where that is more; several lines of which the first has all
    /// leave none for the others.
    pub whole: Option<Vec<Line>>,
}

/// Whether a line of a window shows words or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// What the child said, and what we say about it.
    Text,
    /// The call of a tool, and what came of it.
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
    /// Makes a line of words, or `None` where nothing is left of them.
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

    pub(crate) fn tool(line: Line) -> Self {
        Self {
            kind: LineKind::Tool,
            line,
            whole: None,
        }
    }

    /// Makes the lines of a call, the first of which knows all of it.
    pub(crate) fn call(lines: Vec<Line>, whole: Vec<Line>) -> Vec<Self> {
        let mut whole = (lines != whole).then_some(whole);
        lines
            .into_iter()
            .map(|line| Self {
                whole: whole.as_mut().map(std::mem::take),
                ..Self::tool(line)
            })
            .collect()
    }

    /// Returns the lines for a reader who wants to see all of it.
    pub fn whole(&self) -> &[Line] {
        self.whole
            .as_deref()
            .unwrap_or(std::slice::from_ref(&self.line))
    }

    fn size(&self) -> usize {
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

/// The newest lines of a window, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct History {
    room: Room,
    lines: VecDeque<Held>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Held {
    line: WindowLine,
    /// The tool call that the line shows, where its result may get a line of its own.
    call: Option<String>,
}

impl History {
    pub(crate) fn new(room: Room) -> Self {
        Self {
            room,
            lines: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    pub(crate) fn push(&mut self, line: WindowLine) {
        self.insert(self.lines.len(), Held { line, call: None });
    }

    /// Adds a line whose result comes later.
    pub(crate) fn push_call(&mut self, line: WindowLine, call: &str) {
        let call = Some(call.to_owned());
        self.insert(self.lines.len(), Held { line, call });
    }

    /// Puts a result under its call; under everything where the call is gone.
    pub(crate) fn answer(&mut self, call: &str, line: WindowLine) {
        let asked = self
            .lines
            .iter_mut()
            .enumerate()
            .rev()
            .find(|(_, held)| held.call.as_deref() == Some(call));
        let place = match asked {
            Some((place, held)) => {
                held.call = None;
                place + 1
            }
            None => self.lines.len(),
        };
        self.insert(place, Held { line, call: None });
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &WindowLine> + ExactSizeIterator {
        self.lines.iter().map(|held| &held.line)
    }

    pub(crate) fn get(&self, place: usize) -> Option<&WindowLine> {
        self.lines.get(place).map(|held| &held.line)
    }

    /// Returns the newest lines, at most `limit`, oldest first.
    pub(crate) fn newest(&self, limit: usize) -> impl Iterator<Item = &WindowLine> {
        self.iter().skip(self.lines.len().saturating_sub(limit))
    }

    fn insert(&mut self, place: usize, held: Held) {
        self.bytes += held.line.size();
        self.lines.insert(place, held);
        while self.lines.len() > self.room.lines || self.bytes > self.room.bytes {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= oldest.line.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &str) -> WindowLine {
        WindowLine::words(Role::Plain, words, Room::ROLLING).unwrap()
    }

    #[test]
    fn a_window_is_bounded_in_lines_and_in_bytes() {
        let mut history = History::new(Room::ROLLING);
        for number in 0..600 {
            history.push(words(&format!("line {number}")));
        }
        assert_eq!(history.iter().len(), Room::ROLLING.lines);
        assert_eq!(history.iter().next().unwrap().text(), "line 100");
        for _ in 0..100 {
            history.push(words(&"x".repeat(1 << 20)));
        }
        let bytes: usize = history.iter().map(|line| line.text().len()).sum();
        assert!(bytes <= Room::ROLLING.bytes, "{bytes}");
        assert!(history.iter().len() > 1);
    }

    #[test]
    fn a_result_stands_under_its_call() {
        let mut history = History::new(Room::ROLLING);
        history.push_call(words("ls → a"), "1");
        history.push_call(words("ls → b"), "2");
        history.answer("1", words("  1 file"));
        history.answer("2", words("  2 files"));
        history.answer("gone", words("  3 files"));
        let texts: Vec<String> = history.iter().map(WindowLine::text).collect();
        assert_eq!(
            texts,
            ["ls → a", "  1 file", "ls → b", "  2 files", "  3 files"]
        );
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_left() {
        assert_eq!(words("10%\r20%\r30%\r").text(), "30%");
        assert_eq!(
            WindowLine::words(Role::Plain, " \u{1b}[0m\t ", Room::ROLLING),
            None
        );
    }
}
