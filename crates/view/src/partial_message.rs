//! The message that a model is still writing, as the last rows of its window. They are drawn and
//! never kept: when the message is complete, its own lines take their place.

use pi_subagents_vocabulary::{Activity, PartialMessage, text};

use crate::paint::fit;
use crate::{Line, Role, markdown};

/// The mark at the place where the model writes. Without colours, only this mark shows that a line
/// is not complete.
const CURSOR: &str = "▌";

/// No screen shows more than the end of a message that is this long.
const MOST_BYTES: usize = 16 << 10;

/// Draws the newest rows of a message that is still being written, at most `limit`, none wider
/// than `columns`.
pub fn partial_lines(message: &PartialMessage, limit: usize, columns: usize) -> Vec<Line> {
    let activity = describe(&message.activity);
    let limit = limit.saturating_sub(usize::from(activity.is_some()));
    let mut rows = match limit {
        0 => Vec::new(),
        1 => newest_words(&message.text, columns),
        _ => newest_rows(&message.text, limit, columns),
    };
    if activity.is_none()
        && let Some(last) = rows.last_mut()
    {
        *last = last.clone().with(Role::Muted, CURSOR);
    }
    let activity = activity.map(|words| Line::new(Role::Muted, &words));
    let rows = rows.into_iter().chain(activity);
    rows.map(|row| fit(&row, columns)).collect()
}

/// Returns the end of the last line, for a view with one row: it is the part that moves.
fn newest_words(said: &str, columns: usize) -> Vec<Line> {
    let said = said.trim_end();
    let line = said.rsplit('\n').next().unwrap_or(said);
    let start = line.ceil_char_boundary(line.len().saturating_sub(4 * columns));
    let end = text::clean(&line[start..]);
    let room = columns.saturating_sub(text::columns(CURSOR));
    let is_cut = start > 0;
    let lead = if is_cut { text::CUT_MARK } else { "" };
    let words = text::end_columns(&format!("{lead}{end}"), room);
    let is_empty = words.trim().is_empty();
    (!is_empty)
        .then(|| Line::new(Role::Plain, &words))
        .into_iter()
        .collect()
}

/// Renders the end of a message, with room for the cursor.
fn newest_rows(said: &str, limit: usize, columns: usize) -> Vec<Line> {
    let said = said.trim_end();
    let start = said.len().saturating_sub(MOST_BYTES);
    let end = &said[said.ceil_char_boundary(start)..];
    let room = columns.saturating_sub(text::columns(CURSOR));
    let rows = markdown::render(end, room);
    let rows: Vec<Line> = rows.into_iter().filter(|row| !row.is_blank()).collect();
    let skipped = rows.len().saturating_sub(limit);
    rows.into_iter().skip(skipped).collect()
}

/// Describes the activity of a model that writes no text.
pub fn describe(activity: &Activity) -> Option<String> {
    match activity {
        Activity::Writing => None,
        Activity::Thinking => Some("(thinking...)".to_owned()),
        Activity::Calling { tool } => Some(format!(
            "(calling {}...)",
            text::one_line(&text::clean(tool))
        )),
    }
}
