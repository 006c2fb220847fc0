//! One result: its facts, which stay, and the difference of one file, which scrolls.

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role, wrap};
use pi_subagents_vocabulary::review::{DiffLine, DiffSide};
use pi_subagents_vocabulary::text::count;

use super::code::pieces;
use super::frame::{rule, word_role};
use super::item::ReviewItem;
use super::model::ReviewModel;
use super::parts::ChosenParts;

/// A screen of so many columns shows the lines of both files.
const BOTH_NUMBERS: usize = 90;

/// The most rows of facts above a difference.
const MOST_FACTS: usize = 9;

/// The columns of the labels of facts.
const LABEL: usize = 10;

/// Draws the selected result in some rows.
pub(super) fn result(model: &ReviewModel, width: usize, rows: usize) -> Vec<Line> {
    let Some(item) = model.item() else {
        return Vec::new();
    };
    let mut lines = vec![head(model, item, width)];
    let most = MOST_FACTS.min(rows / 3).max(2);
    lines.extend(facts(item, width, most));
    let status = status(model, item);
    let below = usize::from(status.is_some());
    let room = rows.saturating_sub(lines.len() + below);
    lines.extend(file(model, item, width, room));
    if let Some(status) = status {
        lines.truncate(rows.saturating_sub(1));
        lines.resize(rows.saturating_sub(1), Line::default());
        lines.push(Line::new(Role::Warning, &status));
    }
    lines
}

/// Says what a person has chosen and written that is not done yet.
fn status(model: &ReviewModel, item: &ReviewItem) -> Option<String> {
    let parts = model.parts.count(&item.run);
    let parts =
        parts.map(|ChosenParts { chosen, of }| format!("{chosen} of {} chosen", count(of, "part")));
    let comments = match model.own_comments().len() {
        0 => None,
        number => Some(format!(
            "{}, not sent yet (b sends)",
            count(number, "comment")
        )),
    };
    let status: Vec<String> = parts.into_iter().chain(comments).collect();
    (!status.is_empty()).then(|| status.join(" • "))
}

fn head(model: &ReviewModel, item: &ReviewItem, width: usize) -> Line {
    let place = format!(
        "{} • {} of {}",
        item.word,
        model.selected + 1,
        model.count()
    );
    let left = Line::new(Role::Title, &item.name).with(Role::Muted, &format!(" • {}", item.head));
    let left = fit(&left, width.saturating_sub(place.chars().count() + 2));
    let gap = width.saturating_sub(left.width() + place.chars().count());
    left.with(Role::Plain, &" ".repeat(gap))
        .with(word_role(item.word), &place)
}

/// Writes what there is to know before somebody reads the difference, in at most so many rows.
pub(super) fn facts(item: &ReviewItem, width: usize, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if !item.task.is_empty() {
        lines.push(Line::new(Role::Quote, &format!("> {}", item.task)));
    }
    if !item.base.is_empty() {
        let [added, removed] = item.lines();
        let files = count(item.files.len(), "file");
        let files = format!("{files} +{added} −{removed}");
        let words = [Some(&item.base), item.remainder.as_ref(), Some(&files)];
        let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
        let words = words.join(" • ");
        lines.push(Line::new(Role::Muted, &words));
    }
    if !item.attempts.is_empty() {
        let names = item.attempts.join(", ");
        let words = format!("picked before {names}; review NAME shows one of them");
        labelled("attempts", Role::Muted, &[words], width, &mut lines);
    }
    labelled("look at", Role::Warning, &item.reasons, width, &mut lines);
    labelled("not seen", Role::Warning, &item.unseen, width, &mut lines);
    labelled("seen", Role::Plain, &item.seen, width, &mut lines);
    if !item.answer.is_empty() {
        let answer = std::slice::from_ref(&item.answer);
        labelled("answer", Role::Plain, answer, width, &mut lines);
    }
    if lines.len() > most {
        lines.truncate(most.saturating_sub(1));
        lines.push(Line::new(Role::Muted, "…"));
    }
    lines.iter().map(|line| fit(line, width)).collect()
}

/// Adds facts behind a label, at most two rows of them.
fn labelled(label: &str, role: Role, facts: &[String], width: usize, lines: &mut Vec<Line>) {
    if facts.is_empty() {
        return;
    }
    let words = facts.join("; ");
    let words = words.replace("not seen: ", "");
    let rows = wrap(
        &Line::new(role, &words),
        width.saturating_sub(LABEL).max(10),
    );
    for (number, row) in rows.iter().take(2).enumerate() {
        let label = if number == 0 { label } else { "" };
        let line = Line::new(Role::Muted, &format!("{label:<LABEL$}"));
        lines.push(line.with(role, &row.text()));
    }
}

/// Draws the shown file: a rule with its name, and its difference around the cursor.
fn file(model: &ReviewModel, item: &ReviewItem, width: usize, rows: usize) -> Vec<Line> {
    let shown = model.opened.as_ref().map_or(0, |opened| opened.file);
    let Some(touched) = item.files.get(shown) else {
        return Vec::new();
    };
    let kind = match (touched.is_deleted, &touched.from) {
        (true, _) => " • deleted".to_owned(),
        (false, Some(from)) => format!(" • renamed from {from}"),
        (false, None) => String::new(),
    };
    let chosen = match model.parts.count_of_file(&item.run, &touched.path) {
        None => String::new(),
        Some(ChosenParts { chosen: 0, .. }) => " • left out".to_owned(),
        Some(ChosenParts { chosen, of }) => format!(" • {chosen} of {} chosen", count(of, "hunk")),
    };
    let words = format!(
        "{}/{} {} +{} −{}{kind}{chosen}",
        shown + 1,
        item.files.len(),
        touched.path,
        touched.added,
        touched.removed
    );
    let mut lines = vec![rule(&words, width)];
    let room = rows.saturating_sub(1);
    if model.is_folded() {
        let words = "a program writes this file; Enter shows it";
        lines.push(Line::new(Role::Muted, words));
        return lines;
    }
    match model.diff(shown) {
        None => lines.push(Line::new(Role::Muted, "reading …")),
        Some(Err(why)) => lines.push(Line::new(Role::Failed, why)),
        Some(Ok(diff)) => {
            let cursor = model
                .opened
                .as_ref()
                .map_or(usize::MAX, |opened| opened.line);
            let first = if cursor == usize::MAX {
                0
            } else {
                let first = cursor.saturating_sub(room * 2 / 3);
                first.min(diff.lines.len().saturating_sub(room))
            };
            let seen = diff.lines.iter().enumerate().skip(first);
            for (number, line) in seen {
                let before = diff.hunks.iter().filter(|hunk| **hunk <= number);
                let hunk = before.count().saturating_sub(1);
                let is_left_out = model.parts.is_left_out(&item.run, &touched.path, hunk);
                let fate = if is_left_out {
                    LineFate::LeftOut
                } else {
                    LineFate::Taken
                };
                lines.push(diff_line(line, fate, number == cursor, width));
                let commented = model.own_comments().iter().filter(|comment| {
                    let is_line = comment.line.is_some() && comment.line == line.new;
                    comment.path == touched.path && is_line
                });
                let comments = commented.map(|comment| format!("      ▌ you: {}", comment.words));
                lines.extend(comments.map(|words| Line::new(Role::Accent, &words)));
                if lines.len() > room {
                    break;
                }
            }
            if diff.is_cut {
                lines.push(Line::new(
                    Role::Warning,
                    "… the rest is too long to be shown here",
                ));
            }
            lines.truncate(rows);
        }
    }
    lines
}

/// What becomes of a line when the result is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineFate {
    Taken,
    LeftOut,
}

/// Draws a line of a difference with its number, in both files if there is room.
fn diff_line(line: &DiffLine, fate: LineFate, has_cursor: bool, width: usize) -> Line {
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let numbers = if width >= BOTH_NUMBERS {
        format!("{:>5} {:>5}", number(line.old), number(line.new))
    } else {
        format!("{:>5}", number(line.new.or(line.old)))
    };
    let (sign, role) = match line.side {
        DiffSide::Added => ("+", Role::Added),
        DiffSide::Removed => ("−", Role::Removed),
        DiffSide::Both => (" ", Role::Plain),
        DiffSide::Head | DiffSide::About => (" ", Role::Muted),
    };
    let note = match (line.side, fate) {
        (DiffSide::Head, LineFate::LeftOut) => "[ ] left out  ",
        _ => "",
    };
    let role = match fate {
        LineFate::Taken => role,
        LineFate::LeftOut => Role::Muted,
    };
    let mark = if has_cursor { ">" } else { " " };
    let drawn = Line::new(Role::Accent, mark)
        .with(Role::Muted, &numbers)
        .with(role, &format!(" {sign} "))
        .with(Role::Warning, note);
    match (line.side, fate) {
        (DiffSide::Added | DiffSide::Removed | DiffSide::Both, LineFate::Taken) => {
            code(drawn, line, role)
        }
        _ => drawn.with(role, &line.text),
    }
}

/// Adds the text of a line in colours, with a mark on the part that has changed.
fn code(drawn: Line, line: &DiffLine, role: Role) -> Line {
    let marked = match line.side {
        DiffSide::Added => Role::AddedPart,
        DiffSide::Removed => Role::RemovedPart,
        DiffSide::Both | DiffSide::Head | DiffSide::About => role,
    };
    let coloured = |drawn: Line, text: &str| {
        let pieces = pieces(text).into_iter();
        pieces.fold(drawn, |drawn, piece| {
            drawn.with(piece.role.unwrap_or(role), piece.text)
        })
    };
    let Some(changed) = line.changed.clone().filter(|part| !part.is_empty()) else {
        return coloured(drawn, &line.text);
    };
    let (before, rest) = line.text.split_at(changed.start);
    let (part, after) = rest.split_at(changed.len());
    let drawn = coloured(drawn, before).with(marked, part);
    coloured(drawn, after)
}
