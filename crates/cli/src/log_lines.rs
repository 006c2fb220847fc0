//! The record of a run as a log: a time, a word for the event, and its text.

use pi_subagents_view::{Line, Role, markdown, wrap};
use pi_subagents_vocabulary::{Timestamp, text};

use super::log_entry::{EntryKind, LogEntry};
use pi_subagents_ground::sheet::Sheet;

/// The number of lines of a tool's answer that are shown; `session` and `events` have all of them.
const RESULT_LINES: usize = 10;

/// The width of a label, with the gap behind it.
const LABEL: usize = 11;

/// Returns an event as lines of a log. A long text goes on below its first words.
pub(crate) fn log_lines(
    entry: &LogEntry,
    at: Timestamp,
    now: Timestamp,
    sheet: &Sheet,
) -> Vec<Line> {
    let time = sheet.time(at, now);
    let label = format!("{:width$}", entry.label, width = LABEL);
    let head = Line::new(Role::Muted, &format!("{time}  ")).with(entry.role, &label);
    let margin = head.width();
    let body = body(
        entry,
        sheet
            .columns()
            .map(|columns| columns.saturating_sub(margin)),
    );
    let mut lines: Vec<Line> = Vec::with_capacity(body.len().max(1));
    for (place, row) in body.iter().enumerate() {
        let begin = match place {
            0 => head.clone(),
            _ if row.width() == 0 => Line::default(),
            _ => Line::new(Role::Plain, &" ".repeat(margin)),
        };
        let row = row.spans().iter();
        lines.push(row.fold(begin, |line, span| line.with(span.role(), span.text())));
    }
    if lines.is_empty() {
        lines.push(head);
    }
    lines
}

/// Returns the words as rows of this width; a pipe has no width.
fn body(entry: &LogEntry, columns: Option<usize>) -> Vec<Line> {
    if let Some(columns) = columns.filter(|_| entry.kind == EntryKind::Words) {
        return markdown::render(&entry.words, columns);
    }
    let is_answer = entry.kind == EntryKind::Answer;
    let limit = if is_answer { RESULT_LINES } else { usize::MAX };
    let words = match &entry.tool {
        Some(tool) if is_answer => format!("{tool}: {}", entry.words),
        Some(tool) => format!("{tool} {}", entry.words),
        None => entry.words.clone(),
    };
    let role = if entry.role == Role::Failed {
        Role::Failed
    } else {
        Role::Plain
    };
    let mut lines = words.trim_end().lines();
    let shown = lines.by_ref().take(limit).flat_map(|line| {
        let line = Line::new(role, line);
        match columns {
            Some(columns) => wrap(&line, columns),
            None => vec![line],
        }
    });
    let mut shown: Vec<Line> = shown.collect();
    let hidden = lines.count();
    if hidden > 0 {
        let note = format!("… {}", text::count(hidden, "more line"));
        shown.push(Line::new(Role::Muted, &note));
        // The reason of a failure is at the end of the output.
        let reason = words
            .trim_end()
            .lines()
            .last()
            .filter(|_| role == Role::Failed);
        shown.extend(reason.map(|reason| Line::new(role, reason)));
    }
    shown
}
