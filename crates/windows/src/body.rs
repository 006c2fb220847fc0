//! The lines under the header of a window, and the reason if the run failed.

use pi_subagents_delegation::{Status, text};

use crate::paint::fit;
use crate::partial_message::partial_lines;
use crate::wrap::wrap;
use crate::{Line, Role, View, Window, WindowLine};

/// An error is told in no more lines than this; the record has all of it.
const MAX_ERROR_LINES: usize = 6;

/// What is in a window stands so far to the right of its header.
const MARGIN: usize = 2;

/// The lines of a window with its error at the end, drawn only as far as they are seen.
pub(crate) struct Body<'a> {
    lines: Vec<&'a WindowLine>,
    /// What stands below: what is being said, why there are no lines, or why there will be no more.
    notes: Vec<Line>,
    hidden: usize,
    columns: usize,
}

impl<'a> Body<'a> {
    pub(crate) fn new(window: &'a Window, view: &View) -> Self {
        let limit = if view.expanded {
            usize::MAX
        } else {
            view.max_lines.max(1)
        };
        let mut notes = partial_notes(window, limit, view.columns);
        let lines: Vec<&WindowLine> = window.lines(limit - notes.len()).collect();
        notes.extend(error(window, view.columns));
        if lines.is_empty() && notes.is_empty() {
            let words = placeholder(window.status(), view.expanded);
            notes.extend(words.map(|words| Line::new(Role::Muted, words).indented()));
        }
        Self {
            lines,
            notes,
            hidden: 0,
            columns: view.columns,
        }
    }

    /// Returns how many lines are shown.
    pub(crate) fn len(&self) -> usize {
        self.lines.len() + self.notes.len() - self.hidden
    }

    /// Shows at most `limit` lines, the newest ones, and returns how many lines that hides.
    pub(crate) fn shrink(&mut self, limit: usize) -> usize {
        let excess = self.len().saturating_sub(limit);
        self.hidden += excess;
        excess
    }

    pub(crate) fn draw(&self) -> impl Iterator<Item = Line> {
        let lines = self.lines.iter().skip(self.hidden);
        let noted = self.hidden.saturating_sub(self.lines.len());
        lines
            .map(|line| fit(&line.line.indented(), self.columns))
            .chain(
                self.notes
                    .iter()
                    .skip(noted)
                    .map(|line| fit(line, self.columns)),
            )
    }
}

fn partial_notes(window: &Window, limit: usize, columns: usize) -> Vec<Line> {
    let room = columns.saturating_sub(MARGIN);
    let said = window
        .partial()
        .map(|message| partial_lines(message, limit, room));
    let said = said.unwrap_or_default();
    said.iter().map(Line::indented).collect()
}

/// Returns the words that stand in an empty window. A waiting run needs none, because its header
/// says so, and a failed run has its error below.
pub(crate) fn placeholder(status: Status, is_expanded: bool) -> Option<&'static str> {
    match status {
        Status::Running if !is_expanded => Some("(starting...)"),
        Status::Running | Status::Completed => Some("(no output)"),
        Status::Queued | Status::Failed | Status::Aborted => None,
    }
}

/// Returns why a run failed, line by line.
pub(crate) fn error_lines(window: &Window) -> Vec<Line> {
    let Some(message) = window.error() else {
        return Vec::new();
    };
    text::clean(&format!("Error: {message}"))
        .lines()
        .map(text::one_line)
        .filter(|line| !line.is_empty())
        .map(|line| Line::new(Role::Failed, &line))
        .collect()
}

/// Wraps the error of a run. Other lines are cut, but a person has to read an error to its end.
fn error(window: &Window, columns: usize) -> Vec<Line> {
    error_lines(window)
        .iter()
        .flat_map(|line| wrap(line, columns.saturating_sub(MARGIN)))
        .take(MAX_ERROR_LINES)
        .map(|line| line.indented())
        .collect()
}
