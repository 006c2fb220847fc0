//! What a model says right now, as the last lines of its window. They are drawn and never kept: when
//! the message is complete, its own lines take their place.

use pi_subagents_delegation::{Act, Saying, text};

use crate::{Line, Role, Room, WindowLine};

/// Where the model writes. Without colours it alone tells that a line is not complete.
const CURSOR: &str = "▌";

/// Draws the newest lines of a message that is still being written, at most `limit`, none wider
/// than `columns`. The end of the last line is shown, because that is what moves.
pub fn said_now(saying: &Saying, limit: usize, columns: usize) -> Vec<Line> {
    let act = act(&saying.act);
    let limit = limit.saturating_sub(usize::from(act.is_some()));
    let mut words: Vec<String> = saying
        .text
        .rsplit('\n')
        .filter_map(|line| WindowLine::words(Role::Muted, line, Room::ROLLING))
        .take(limit)
        .map(|line| text::cut_columns(&line.text(), columns))
        .collect();
    if act.is_none()
        && let Some(last) = words.first_mut()
    {
        *last = newest_words(&saying.text, columns);
    }
    let words = words.into_iter().rev();
    words
        .chain(act)
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

/// Describes an act of a model that has no words.
pub fn act(act: &Act) -> Option<String> {
    match act {
        Act::Speaking => None,
        Act::Thinking => Some("(thinking...)".to_owned()),
        Act::Calling { tool } => Some(format!(
            "(calling {}...)",
            text::one_line(&text::clean(tool))
        )),
    }
}
