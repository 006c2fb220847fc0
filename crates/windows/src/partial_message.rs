//! The message that a model is still writing, as the last lines of its window. They are drawn and
//! never kept: when the message is complete, its own lines take their place.

use pi_subagents_delegation::{Activity, PartialMessage, text};

use crate::{Line, Role, Room, WindowLine};

/// Where the model writes. Without colours it alone tells that a line is not complete.
const CURSOR: &str = "▌";

/// Draws the newest lines of a message that is still being written, at most `limit`, none wider
/// than `columns`. The end of the last line is shown, because that is what moves.
pub fn partial_lines(message: &PartialMessage, limit: usize, columns: usize) -> Vec<Line> {
    let activity = describe(&message.activity);
    let limit = limit.saturating_sub(usize::from(activity.is_some()));
    let mut words: Vec<String> = message
        .text
        .rsplit('\n')
        .filter_map(|line| WindowLine::words(Role::Muted, line, Room::ROLLING))
        .take(limit)
        .map(|line| text::cut_columns(&line.text(), columns))
        .collect();
    if activity.is_none()
        && let Some(last) = words.first_mut()
    {
        *last = newest_words(&message.text, columns);
    }
    let words = words.into_iter().rev();
    words
        .chain(activity)
        .map(|words| Line::new(Role::Muted, &text::cut_columns(&words, columns)))
        .collect()
}

/// Returns the end of a message that is still being written, with a mark where it goes on.
fn newest_words(said: &str, columns: usize) -> String {
    let said = said.trim_end();
    let line = said.rsplit('\n').next().unwrap_or(said);
    let start = line.ceil_char_boundary(line.len().saturating_sub(4 * columns));
    let end = text::clean(&line[start..]);
    let is_cut = start > 0;
    let end = if is_cut {
        format!("{}{end}", text::CUT_MARK)
    } else {
        end
    };
    let room = columns.saturating_sub(text::columns(CURSOR));
    format!("{}{CURSOR}", text::end_columns(&end, room))
}

/// Describes what a model does that writes no text.
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
