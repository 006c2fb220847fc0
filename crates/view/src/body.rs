//! The rows under the header of a window, and the reason if the run failed.

use pi_subagents_vocabulary::{Status, text};

use crate::held_call::more_lines;
use crate::paint::fit;
use crate::partial_message::partial_lines;
use crate::window_line::{LineKind, WindowLine};
use crate::wrap::{wrap, wrap_under};
use crate::{Line, Role, Window};

/// The largest number of lines that an error takes; the record has all of it.
const MAX_ERROR_LINES: usize = 6;

/// The number of columns by which the lines of a window are indented under its header.
const MARGIN: usize = 2;

/// The smallest number of rows with room for a line about hidden ones.
const MIN_MARKED_ROWS: usize = 4;

/// The newest rows of a window, wrapped to the width of a screen.
pub(crate) struct Body {
    rows: Vec<Line>,
    /// The number of rows at the end that give the reason why the run failed.
    errors: usize,
    /// The number of lines that came before the rows.
    older: usize,
    columns: usize,
}

impl Body {
    /// Wraps the newest lines of a window, up to `limit` rows.
    pub(crate) fn new(window: &Window, columns: usize, limit: usize) -> Self {
        let room = columns.saturating_sub(MARGIN).max(1);
        let mut tail = partial_rows(window, limit, room);
        let error = error(window, room);
        let errors = error.len();
        tail.extend(error);
        let mut older = window.all_lines().len();
        let mut newest: Vec<Vec<Line>> = Vec::new();
        let mut height = tail.len() - errors;
        for line in window.all_lines().rev() {
            if height >= limit {
                break;
            }
            let rows = rows_of(line, room, limit);
            height += rows.len();
            newest.push(rows);
            older -= 1;
        }
        let mut rows: Vec<Line> = newest.into_iter().rev().flatten().collect();
        rows.extend(tail);
        if rows.is_empty() {
            let words = placeholder(window.status());
            rows.extend(words.map(|words| Line::new(Role::Muted, words)));
        }
        Self {
            rows,
            errors,
            older,
            columns,
        }
    }

    /// Returns how many rows it would like to have.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() + usize::from(self.older > 0)
    }

    /// Draws at most `limit` of the newest rows and, whatever the limit is, the reason why the run
    /// failed.
    pub(crate) fn draw_with_error(&self, limit: usize) -> Vec<Line> {
        self.draw(limit.saturating_add(self.errors))
    }

    /// Draws the newest rows, at most `limit`, behind the margin. If there is room, a line in front
    /// of them says how much is hidden. An error is read from its beginning.
    pub(crate) fn draw(&self, limit: usize) -> Vec<Line> {
        let is_cut = self.len() > limit || self.older > 0;
        let has_mark = is_cut && limit >= MIN_MARKED_ROWS.max(self.errors + 1);
        let newest = limit - usize::from(has_mark);
        let last = self
            .rows
            .len()
            .saturating_sub(self.errors.saturating_sub(newest));
        let first = last.saturating_sub(newest);
        let mark = has_mark.then(|| more_lines(self.older + first));
        let rows = mark.iter().chain(&self.rows[first..last]);
        rows.map(|row| fit(&row.indented(), self.columns)).collect()
    }
}

/// Wraps a line. Words are read to their end; the preview of a call is cut.
fn rows_of(line: &WindowLine, columns: usize, limit: usize) -> Vec<Line> {
    if line.kind == LineKind::Tool {
        return vec![fit(&line.line, columns)];
    }
    // The beginning is enough of a line that would fill the screen several times.
    let most = columns.saturating_mul(limit).saturating_mul(4);
    if line.line.size() <= most {
        return wrap_under(&line.line, columns);
    }
    let beginning = text::cut_bytes(line.text(), most);
    wrap_under(&Line::new(Role::Plain, &beginning), columns)
}

fn partial_rows(window: &Window, limit: usize, columns: usize) -> Vec<Line> {
    let said = window.partial();
    said.map(|message| partial_lines(message, limit, columns))
        .unwrap_or_default()
}

/// Returns the text of an empty window. A queued run needs none, because its header says so, and a
/// failed run has its error below.
pub(crate) fn placeholder(status: Status) -> Option<&'static str> {
    match status {
        Status::Running => Some("(starting...)"),
        Status::Completed => Some("(no output)"),
        Status::Queued | Status::Waiting | Status::Parked | Status::Failed | Status::Stopped => {
            None
        }
    }
}

/// Returns why a run failed, line by line.
pub fn error_lines(window: &Window) -> Vec<Line> {
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

fn error(window: &Window, columns: usize) -> Vec<Line> {
    error_lines(window)
        .iter()
        .flat_map(|line| wrap(line, columns))
        .take(MAX_ERROR_LINES)
        .collect()
}
