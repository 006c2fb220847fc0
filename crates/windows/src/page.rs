//! A window read like a page: from its first line to its last, every line whole.
//!
//! Only the rows that are seen are ever wrapped, so a page of any length costs one screen.

use pi_subagents_delegation::text;

use crate::body::{error_lines, placeholder};
use crate::paint::fit;
use crate::wrap::wrap;
use crate::{Line, LineKind, Role, Window};

/// How many lines of what was asked stand above what came of it.
const MAX_PROMPT_LINES: usize = 12;

/// How much of each.
const MAX_PROMPT_CHARACTERS: usize = 300;

/// Where the reader of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// At the end, wherever that moves.
    #[default]
    End,
    /// With this row of this line at the top.
    At {
        /// The line, from the beginning of the page.
        line: usize,
        /// The row of it, where it is wrapped.
        row: usize,
    },
}

impl Place {
    /// The beginning of a page.
    pub const BEGINNING: Self = Self::At { line: 0, row: 0 };
}

/// All of a window: what was asked, what came of it, what is being said right now.
pub struct Page<'a> {
    /// What was asked.
    head: Vec<Line>,
    window: Option<&'a Window>,
    /// What is being said, and why there will be no more.
    tail: Vec<Line>,
    columns: usize,
}

type Top = (usize, usize);

impl<'a> Page<'a> {
    /// Makes the page of a window on a terminal of this width. `partial` are the lines of a message
    /// that is still being written.
    pub fn of_window(window: &'a Window, partial: &[Line], columns: usize) -> Self {
        let mut tail = partial.to_vec();
        tail.extend(error_lines(window));
        if tail.is_empty() && window.all_lines().len() == 0 {
            let words = placeholder(window.status());
            tail.extend(words.map(|words| Line::new(Role::Muted, words)));
        }
        Self {
            head: asked(window),
            window: Some(window),
            tail,
            columns,
        }
    }

    /// Makes a page of these lines.
    pub fn of_lines(lines: Vec<Line>, columns: usize) -> Self {
        Self {
            head: lines,
            window: None,
            tail: Vec::new(),
            columns,
        }
    }

    /// Returns how many lines the page has.
    pub fn len(&self) -> usize {
        self.head.len() + self.of_window_len() + self.tail.len()
    }

    /// Returns whether there is nothing on it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows that are seen from a place, at most `height`.
    pub fn rows(&self, place: Place, height: usize) -> Vec<Line> {
        let (first, skipped) = self.top(place, height);
        (first..self.len())
            .flat_map(|line| self.wrapped(line))
            .skip(skipped)
            .take(height)
            .collect()
    }

    /// Returns the place so many rows further down.
    pub fn down(&self, place: Place, rows: usize, height: usize) -> Place {
        let Place::At { .. } = place else {
            return Place::End;
        };
        let (mut line, row) = self.top(place, height);
        let mut row = row + rows;
        while line < self.len() {
            let has = self.wrapped(line).len();
            if row < has {
                break;
            }
            row -= has;
            line += 1;
        }
        if (line, row) < self.top(Place::End, height) {
            Place::At { line, row }
        } else {
            Place::End
        }
    }

    /// Returns the place so many rows further up.
    pub fn up(&self, place: Place, rows: usize, height: usize) -> Place {
        let (line, row) = self.back(self.top(place, height), rows);
        Place::At { line, row }
    }

    /// Returns how much of the page stands above the visible rows, in percent; `None` at the end of
    /// the page, and where all of it is visible.
    pub fn percent(&self, place: Place, height: usize) -> Option<usize> {
        match place {
            Place::End => None,
            Place::At { .. } if self.top(Place::End, height) == (0, 0) => None,
            Place::At { line, .. } => Some(line * 100 / self.len().max(1)),
        }
    }

    /// Returns the top row of a place. It is never so far down that the screen would not be filled.
    fn top(&self, place: Place, height: usize) -> Top {
        let end = self.back((self.len(), 0), height);
        match place {
            Place::End => end,
            Place::At { line, row } => {
                let line = line.min(self.len().saturating_sub(1));
                let last = self.wrapped(line).len().saturating_sub(1);
                end.min((line, row.min(last)))
            }
        }
    }

    fn back(&self, (mut line, mut row): Top, rows: usize) -> Top {
        let mut left = rows;
        while left > row && line > 0 {
            left -= row;
            line -= 1;
            row = self.wrapped(line).len();
        }
        (line, row.saturating_sub(left))
    }

    fn of_window_len(&self) -> usize {
        self.window.map_or(0, |window| window.all_lines().len())
    }

    /// Returns the rows of a line. Words are wrapped; the call of a tool is only a preview and is
    /// cut.
    fn wrapped(&self, place: usize) -> Vec<Line> {
        let in_window = place.wrapping_sub(self.head.len());
        if let Some(line) = self.head.get(place) {
            return wrap(line, self.columns);
        }
        match self.window.and_then(|window| window.line(in_window)) {
            Some(line) if line.kind == LineKind::Tool => vec![fit(&line.line, self.columns)],
            Some(line) => wrap(&line.line, self.columns),
            None => self
                .tail
                .get(in_window - self.of_window_len())
                .map(|line| wrap(line, self.columns))
                .unwrap_or_default(),
        }
    }
}

/// Quotes the prompt of the task.
fn asked(window: &Window) -> Vec<Line> {
    let Some(task) = &window.facts().task else {
        return Vec::new();
    };
    let quoted = |words: &str| {
        let words = text::cut_characters(words, MAX_PROMPT_CHARACTERS);
        Line::new(Role::Accent, "> ").with(Role::Muted, &words)
    };
    let prompt = task.prompt.trim();
    let mut lines: Vec<Line> = prompt.lines().take(MAX_PROMPT_LINES).map(quoted).collect();
    let more = prompt.lines().count().saturating_sub(MAX_PROMPT_LINES);
    if more > 0 {
        let words = format!("{} ({} more)", text::CUT_MARK, text::count(more, "line"));
        lines.push(quoted(&words));
    }
    lines
}
