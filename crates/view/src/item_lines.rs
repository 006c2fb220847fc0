//! The lines that an item of a story adds to a window or to the progress in a log.

use std::borrow::Cow;

use pi_subagents_vocabulary::ToolCall;

use crate::preview::{CallPreview, PreviewContext};
use crate::report::words_of_report;
use crate::room::Room;
use crate::story::{Remark, RemarkKind, What};
use crate::window_line::WindowLine;
use crate::{Line, Role, markdown};

/// The number of bytes of one printed line that are shown, and so copied.
const LONGEST_PRINTED: usize = 64 << 10;

/// The number of lines of stderr that are shown if they came at once; a child may write thousands.
const MOST_COMPLAINTS: usize = 100;

/// The number of bytes of a text that are read as Markdown for its first line.
const LONGEST_BEGINNING: usize = 2 << 10;

/// A piece that one item adds to a window.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Lines of words, at least one.
    Words(Vec<WindowLine>),
    /// A call that has no result yet.
    Call { id: String, preview: CallPreview },
}

/// Returns the lines of an item, piece by piece; many items have no lines. A window has no room for
/// prompts and thoughts, and its header shows the beginning and the end.
pub(crate) fn lines_of(what: &What<'_>, context: &PreviewContext, room: Room) -> Vec<Piece> {
    match what {
        What::Words(text) => speech(text, context, room),
        What::Call(call) => match words_of_report(call) {
            Some(report) => lines_of_report(&report, context, room),
            None => vec![call_of(call, context)],
        },
        What::Retry(retry) => words(Role::Warning, &retry.words(), room),
        What::Remark(remark) => {
            words_of(remark).map_or_else(Vec::new, |text| words(remark.role(), &text, room))
        }
        What::Task(_)
        | What::Prompt(_)
        | What::Thought(_)
        | What::Picture(_)
        | What::Begun { .. }
        | What::Done { .. }
        | What::Answer(_)
        | What::Turn(_)
        | What::Ended(_) => Vec::new(),
    }
}

/// Returns the lines of an item for a reader of the whole run, if it is a retry or a remark.
pub fn remarks(what: &What<'_>) -> Vec<Line> {
    if !matches!(what, What::Retry(_) | What::Remark(_)) {
        return Vec::new();
    }
    let pieces = lines_of(what, &PreviewContext::default(), Room::WHOLE).into_iter();
    let lines = pieces.flat_map(|piece| match piece {
        Piece::Words(lines) => lines,
        Piece::Call { .. } => Vec::new(),
    });
    lines.map(|line| line.line).collect()
}

/// Returns the words of a remark, if a window shows it.
fn words_of(remark: &Remark<'_>) -> Option<String> {
    match remark.kind {
        RemarkKind::Started | RemarkKind::Compacted | RemarkKind::Other(_) => None,
        RemarkKind::Printed => {
            let end = remark.text.floor_char_boundary(LONGEST_PRINTED);
            Some(remark.text[..end].to_owned())
        }
        RemarkKind::Complained => Some(complaints(&remark.text)),
        RemarkKind::Warning
        | RemarkKind::ExtensionFailed
        | RemarkKind::Steered
        | RemarkKind::Corrected
        | RemarkKind::Report { .. }
        | RemarkKind::FellBack
        | RemarkKind::Stuck
        | RemarkKind::Told
        | RemarkKind::Paused
        | RemarkKind::Queued
        | RemarkKind::WentOn
        | RemarkKind::GateBegan
        | RemarkKind::GatePassed
        | RemarkKind::GateFailed
        | RemarkKind::Asked
        | RemarkKind::Answered
        | RemarkKind::Compacting => Some(remark.line()),
    }
}

/// Returns the last lines of a text that came on stderr at once, each marked.
fn complaints(text: &str) -> String {
    let lines = text.rsplit('\n').filter(|line| !line.trim().is_empty());
    let newest: Vec<String> = lines
        .take(MOST_COMPLAINTS)
        .map(|line| format!("[stderr]: {line}"))
        .collect();
    let oldest_first: Vec<String> = newest.into_iter().rev().collect();
    oldest_first.join("\n")
}

fn lines_of_report(report: &[(Role, String)], context: &PreviewContext, room: Room) -> Vec<Piece> {
    report
        .iter()
        .flat_map(|(role, text)| match role {
            Role::Plain => speech(text, context, room),
            role => words(*role, text, room),
        })
        .collect()
}

fn call_of(call: &ToolCall, context: &PreviewContext) -> Piece {
    Piece::Call {
        id: call.id.clone(),
        preview: CallPreview::new(&call.name, &call.arguments, context),
    }
}

/// Makes lines of a text of the model, which is Markdown. Lines are wrapped when they are drawn;
/// only tables have to know how wide the screen is.
fn speech(text: &str, context: &PreviewContext, room: Room) -> Vec<Piece> {
    let start = text.len().saturating_sub(2 * room.bytes);
    let end = &text[text.ceil_char_boundary(start)..];
    let end = with_bounded_lines(end, 2 * room.line_bytes);
    let lines = markdown::unwrapped(&end, context.width());
    let skipped = lines.len().saturating_sub(room.lines);
    let lines = lines.into_iter().skip(skipped);
    let lines = lines.filter_map(|line| WindowLine::speech(line, room));
    piece(lines.collect())
}

/// Returns the first line of a text of the model, and the number of lines behind it. Only the beginning
/// is read as Markdown, because a reader of one line does not see more. Behind it every line counts
/// that is not blank.
pub(crate) fn first_of_speech(text: &str, context: &PreviewContext) -> Option<(Line, usize)> {
    let (beginning, rest) = beginning_of(text.trim_start_matches('\n'));
    let lines = markdown::unwrapped(beginning, context.width()).into_iter();
    let mut lines = lines.filter_map(|line| WindowLine::speech(line, Room::PROGRESS));
    let first = lines.next()?.line;
    let behind = rest.lines().filter(|line| !line.trim().is_empty());
    Some((first, lines.count() + behind.count()))
}

/// Cuts a text behind a line, or inside its first line if that is too long. The rest begins with a
/// line of its own.
fn beginning_of(text: &str) -> (&str, &str) {
    let bound = text.floor_char_boundary(LONGEST_BEGINNING);
    if bound == text.len() {
        return (text, "");
    }
    if let Some(end) = text[..bound].rfind('\n') {
        return text.split_at(end);
    }
    let rest = text[bound..].split_once('\n');
    (&text[..bound], rest.map_or("", |(_, rest)| rest))
}

/// Cuts lines that are too long for any reader, because cleaning and parsing cost more than cutting.
fn with_bounded_lines(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.split('\n').all(|line| line.len() <= bytes) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n');
    let lines = lines.map(|line| &line[..line.floor_char_boundary(bytes)]);
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Makes lines of a text. Only the end of a long text can stay in a window, so only the end is
/// read.
fn words(role: Role, text: &str, room: Room) -> Vec<Piece> {
    let mut lines: Vec<WindowLine> = text
        .split('\n')
        .rev()
        .filter_map(|line| WindowLine::words(role, line, room))
        .take(room.lines)
        .collect();
    lines.reverse();
    piece(lines)
}

fn piece(lines: Vec<WindowLine>) -> Vec<Piece> {
    if lines.is_empty() {
        return Vec::new();
    }
    vec![Piece::Words(lines)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<(String, usize)> {
        let first = first_of_speech(text, &PreviewContext::default());
        first.map(|(line, more)| (line.text(), more))
    }

    #[test]
    fn the_first_line_of_a_long_text_is_that_of_the_whole_text() {
        let line = "Some **words** of a model, and then some more of them.\n\n";
        for repetitions in [1, 30, 5_000] {
            let text = format!("\n# A title\n\n{}", line.repeat(repetitions));
            let pieces = speech(&text, &PreviewContext::default(), Room::WHOLE);
            let [Piece::Words(lines)] = &pieces[..] else {
                panic!("{pieces:?}");
            };
            assert_eq!(first(&text), Some((lines[0].text(), lines.len() - 1)));
        }
    }

    #[test]
    fn a_long_first_line_is_cut_and_is_one_line() {
        let text = format!("{}\nx\n\ny", "é".repeat(100_000));
        let (line, more) = first(&text).unwrap();
        assert_eq!(
            (
                line.chars().all(|letter| letter == 'é' || letter == '.'),
                more
            ),
            (true, 2)
        );
        assert!(line.len() <= 2 << 10, "{}", line.len());
        assert_eq!(first("\n \n"), None);
    }
}
