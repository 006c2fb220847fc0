//! The lines of one window, bounded in number and size.

use std::collections::VecDeque;

use pi_subagents_delegation::text;

use crate::{Line, Role};

/// How many lines of one window are held.
pub(crate) const MAX_LINES: usize = 500;

/// How many bytes of text one window holds.
const MAX_BYTES: usize = 64 * 1024;

/// No view shows more of one line than this.
const MAX_LINE_BYTES: usize = 2 * 1024;

/// A line of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowLine {
    /// What it tells.
    pub kind: LineKind,
    /// What it says.
    pub line: Line,
}

/// What a line of a window tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// What the child said, and what we say about it.
    Text,
    /// The call of a tool, and what came of it.
    Tool,
}

impl LineKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Tool => "tool",
        }
    }
}

impl WindowLine {
    /// A line of words, or `None` where nothing is left of them.
    pub(crate) fn words(role: Role, words: &str) -> Option<Self> {
        // A line of a megabyte is cut before it is cleaned and once more when its size is known.
        let beginning = &words[..words.floor_char_boundary(8 * MAX_LINE_BYTES)];
        let clean = text::clean(last_overprint(beginning));
        let clean = text::cut_bytes(clean.trim_end().to_owned(), MAX_LINE_BYTES);
        (!clean.is_empty()).then(|| Self {
            kind: LineKind::Text,
            line: Line::new(role, &clean),
        })
    }

    pub(crate) fn tool(line: Line) -> Self {
        Self {
            kind: LineKind::Tool,
            line,
        }
    }

    /// What it says, without roles.
    pub fn text(&self) -> String {
        self.line.text()
    }
}

/// A progress bar writes over itself; only its last state is worth a line.
fn last_overprint(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

/// The newest lines of a window, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
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

    /// The newest lines, at most `limit`, oldest first.
    pub(crate) fn newest(&self, limit: usize) -> impl Iterator<Item = &WindowLine> {
        self.iter().skip(self.lines.len().saturating_sub(limit))
    }

    fn insert(&mut self, place: usize, held: Held) {
        self.bytes += held.line.line.size();
        self.lines.insert(place, held);
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= oldest.line.line.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &str) -> WindowLine {
        WindowLine::words(Role::Plain, words).unwrap()
    }

    #[test]
    fn a_window_is_bounded_in_lines_and_in_bytes() {
        let mut history = History::default();
        for number in 0..600 {
            history.push(words(&format!("line {number}")));
        }
        assert_eq!(history.iter().len(), MAX_LINES);
        assert_eq!(history.iter().next().unwrap().text(), "line 100");
        for _ in 0..100 {
            history.push(words(&"x".repeat(1 << 20)));
        }
        let bytes: usize = history.iter().map(|line| line.text().len()).sum();
        assert!(bytes <= MAX_BYTES, "{bytes}");
        assert!(history.iter().len() > 15);
    }

    #[test]
    fn a_result_stands_under_its_call() {
        let mut history = History::default();
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
        assert_eq!(WindowLine::words(Role::Plain, " \u{1b}[0m\t "), None);
    }
}
