//! The model as lines: a pure function of it, with as many lines as the screen has rows. A wide
//! screen has the queue at the left and the selected result at the right.

use std::time::Duration;

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role, wrap};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::{columns, count};

use super::item::{ItemKind, ReviewItem};
use super::keys::KEYS;
use super::model::{Doubt, ReviewMode, ReviewModel, TypedFor};
use super::parts::ChosenParts;
use super::result_frame::{facts, result};

/// A screen of so many columns shows the queue beside the result.
const WIDE: usize = 120;

/// The columns of the queue on a wide screen.
const QUEUE: usize = 44;

/// The rows of a problem at most.
const MOST_PROBLEM: usize = 2;

/// The frame, and the column of the cursor in its last line if something is typed.
pub(super) struct ReviewFrame {
    pub(super) lines: Vec<Line>,
    pub(super) cursor: Option<usize>,
}

/// Draws the model.
pub(super) fn frame(model: &ReviewModel, now: Timestamp) -> ReviewFrame {
    let (width, height) = (
        usize::from(model.size.width),
        usize::from(model.size.height),
    );
    let foot = foot(model, width, (height / 2).max(1));
    let rows = height.saturating_sub(foot.lines.len());
    let mut lines = if model.mode == ReviewMode::Help {
        help(width)
    } else if width >= WIDE {
        side_by_side(model, now, rows)
    } else if model.opened.is_some() {
        result(model, width, rows)
    } else {
        let mut lines = queue(model, now, width, rows * 3 / 5);
        lines.extend(below(model, width, rows.saturating_sub(lines.len())));
        lines
    };
    lines.resize(rows, Line::default());
    lines.extend(foot.lines);
    ReviewFrame {
        lines: lines.iter().map(|line| fit(line, width)).collect(),
        cursor: foot.cursor,
    }
}

fn side_by_side(model: &ReviewModel, now: Timestamp, rows: usize) -> Vec<Line> {
    let right_width = usize::from(model.size.width) - QUEUE - 3;
    let left = queue(model, now, QUEUE, rows);
    let right = result(model, right_width, rows);
    let line = |row: usize| {
        let left = left
            .get(row)
            .map_or_else(Line::default, |line| fit(line, QUEUE));
        let gap = " ".repeat(QUEUE.saturating_sub(left.width()));
        let mut line = left.with(Role::Plain, &gap).with(Role::Muted, " │ ");
        if let Some(right) = right.get(row) {
            for span in fit(right, right_width).spans() {
                line = line.with(span.role(), span.text());
            }
        }
        line
    };
    (0..rows).map(line).collect()
}

/// Draws the queue, with the selected item in sight.
fn queue(model: &ReviewModel, now: Timestamp, width: usize, rows: usize) -> Vec<Line> {
    let mut lines = vec![title(model, width)];
    let Some(items) = &model.items else {
        lines.push(Line::new(Role::Muted, "looking for what waits …"));
        return lines;
    };
    if let Some(problem) = &model.problem {
        let problem = Line::new(Role::Failed, &format!("! {problem}"));
        lines.extend(wrap(&problem, width).into_iter().take(MOST_PROBLEM));
    } else if items.is_empty() {
        lines.push(Line::new(
            Role::Success,
            "Nothing waits for you in this project.",
        ));
    }
    let mut listed = Vec::new();
    let mut selected_at = 0;
    let mut kind = None;
    let names = items.iter().map(|item| columns(&item.name).min(16));
    let name_width = names.max().unwrap_or_default();
    for (place, item) in items.iter().enumerate() {
        if kind.is_none_or(|kind| heading(kind) != heading(item.kind)) {
            listed.push(Line::new(Role::Title, heading(item.kind)));
            kind = Some(item.kind);
        }
        if place == model.selected {
            selected_at = listed.len();
        }
        listed.push(row(item, place == model.selected, name_width, now));
    }
    let room = rows.saturating_sub(lines.len()).max(1);
    let first = selected_at.saturating_sub(room.saturating_sub(2));
    let first = first.min(listed.len().saturating_sub(room));
    lines.extend(
        listed
            .into_iter()
            .skip(first)
            .take(room)
            .map(|line| fit(&line, width)),
    );
    lines
}

fn title(model: &ReviewModel, width: usize) -> Line {
    let items = model.items.as_deref().unwrap_or_default();
    let later = items.iter().filter(|item| item.is_later).count();
    let words = match (items.len() - later, later) {
        (now, 0) => format!("Needs you: {now}"),
        (now, later) => format!("Needs you: {now} • later {later}"),
    };
    let gap = width.saturating_sub(columns(&words) + columns(&model.project));
    let title = Line::new(Role::Title, &words);
    if gap < 2 {
        return title;
    }
    title.with(
        Role::Muted,
        &format!("{}{}", " ".repeat(gap), model.project),
    )
}

fn heading(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Question | ItemKind::Limit => "Stand still until you answer",
        ItemKind::Change => "Changes to take, in the proposed order",
        ItemKind::Failure => "Failed",
        ItemKind::Unreachable => "Results that cannot be found",
    }
}

fn row(item: &ReviewItem, is_selected: bool, name_width: usize, now: Timestamp) -> Line {
    let age = Duration::try_from(now.duration_since(item.since)).unwrap_or_default();
    let [added, removed] = item.lines();
    let sizes = if item.files.is_empty() {
        String::new()
    } else {
        format!("+{added} −{removed}")
    };
    let name = fit(&Line::new(Role::Plain, &item.name), name_width).text();
    let gap = " ".repeat(name_width.saturating_sub(columns(&name)));
    let name_role = if is_selected {
        Role::Accent
    } else {
        Role::Strong
    };
    let mark = if is_selected { "> " } else { "  " };
    let words = if item.is_later {
        format!("later: {}", words(item))
    } else {
        words(item)
    };
    Line::new(Role::Accent, mark)
        .with(word_role(item.word), &format!("{:<8}", item.word))
        .with(name_role, &format!("{name}{gap} "))
        .with(Role::Plain, &format!("{sizes:<10} "))
        .with(Role::Muted, &format!("{:>4}  ", short_age(age)))
        .with(Role::Plain, &words)
}

/// Returns what there is to know about an item in one sentence.
fn words(item: &ReviewItem) -> String {
    match item.kind {
        ItemKind::Change => {
            let remainder = item.remainder.iter();
            let words = remainder.chain(&item.reasons).chain(&item.unseen);
            let words: Vec<&str> = words.map(String::as_str).collect();
            if words.is_empty() {
                "nothing to look at".to_owned()
            } else {
                words.join("; ")
            }
        }
        ItemKind::Question | ItemKind::Limit | ItemKind::Failure | ItemKind::Unreachable => {
            item.answer.clone()
        }
    }
}

pub(super) fn word_role(word: &str) -> Role {
    match word {
        "fits" => Role::Success,
        "asks" | "limit" | "budget" | "careful" => Role::Warning,
        "decide" | "failed" | "lost" => Role::Failed,
        _ => Role::Plain,
    }
}

fn short_age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m", seconds / 60),
        seconds @ 3600..86_400 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// Draws the selected item below the queue.
fn below(model: &ReviewModel, width: usize, rows: usize) -> Vec<Line> {
    let Some(item) = model.item() else {
        return Vec::new();
    };
    let about = [item.name.as_str(), &item.head];
    let about: Vec<&str> = about
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect();
    let mut lines = vec![rule(&about.join(" • "), width)];
    lines.extend(facts(item, width, rows.saturating_sub(2)));
    if !item.files.is_empty() {
        let files = count(item.files.len(), "file");
        lines.push(Line::new(
            Role::Muted,
            &format!("files     {files}; Enter shows them"),
        ));
    }
    lines.truncate(rows);
    lines
}

/// Draws a line with words in it.
pub(super) fn rule(words: &str, width: usize) -> Line {
    let words = format!("── {words} ");
    let words = fit(&Line::new(Role::Muted, &words), width).text();
    let rest = "─".repeat(width.saturating_sub(columns(&words)));
    Line::new(Role::Muted, &format!("{words}{rest}"))
}

fn help(width: usize) -> Vec<Line> {
    let mut lines = vec![Line::new(Role::Title, "Keys of review")];
    for (keys, does) in KEYS {
        let words = Line::new(Role::Plain, does);
        for (number, row) in wrap(&words, width.saturating_sub(12).max(10))
            .iter()
            .enumerate()
        {
            let keys = if number == 0 { keys } else { "" };
            let gap = " ".repeat(12_usize.saturating_sub(columns(keys)));
            lines.push(Line::new(Role::Accent, &format!("{keys}{gap}")).joined_to(row));
        }
    }
    lines
}

/// Adds the spans of a line to another one.
trait Joined {
    fn joined_to(self, other: &Line) -> Line;
}

impl Joined for Line {
    fn joined_to(self, other: &Line) -> Line {
        let spans = other.spans().iter();
        spans.fold(self, |line, span| line.with(span.role(), span.text()))
    }
}

/// The rows at the bottom, and the column of the cursor in the last one.
struct Foot {
    lines: Vec<Line>,
    cursor: Option<usize>,
}

impl Foot {
    fn of(lines: Vec<Line>) -> Self {
        Self {
            lines,
            cursor: None,
        }
    }
}

/// Draws the bottom of the screen: what is typed, what is asked, what happened, or the keys.
fn foot(model: &ReviewModel, width: usize, most: usize) -> Foot {
    let name = model.item().map_or("", |item| item.name.as_str());
    match &model.mode {
        ReviewMode::Typing(purpose, editor) => {
            let question = match purpose {
                TypedFor::Comment => "comment: ".to_owned(),
                TypedFor::Ground => format!("do {name} again on top of: "),
                TypedFor::Note => match model.own_comments().len() {
                    0 => format!("to {name}: "),
                    comments => format!("to {name}, with {}: ", count(comments, "comment")),
                },
            };
            let question = fit(&Line::new(Role::Accent, &question), width / 2);
            let seen = editor.seen(width.saturating_sub(question.width()));
            Foot {
                cursor: Some(question.width() + seen.cursor),
                lines: vec![question.with(Role::Plain, &seen.text)],
            }
        }
        ReviewMode::Confirming(doubt) => Foot::of(asked(model, doubt, width, most)),
        ReviewMode::Help => Foot::of(vec![Line::new(Role::Muted, "any key leaves the help")]),
        ReviewMode::Browsing => match (&model.notice, &model.working) {
            (Some(notice), _) => {
                let lines = notice.text.lines();
                let lines = lines.flat_map(|line| wrap(&Line::new(notice.role, line), width));
                Foot::of(lines.take(most).collect())
            }
            (None, Some(working)) => {
                let words = format!("⏳ {}", working.words);
                Foot::of(vec![Line::new(Role::Accent, &words)])
            }
            (None, None) => Foot::of(vec![Line::new(Role::Muted, usual_keys(model))]),
        },
    }
}

fn usual_keys(model: &ReviewModel) -> &'static str {
    if model.opened.is_some() {
        "? help  Esc back  n p hunk  [ ] file  Space take  c comment  a accept  b send"
    } else {
        "? help  q leave  Enter open  a accept  b send back  l later  x discard  A all"
    }
}

/// Draws a question. Whoever accepts something sees each command that will run, whole.
fn asked(model: &ReviewModel, doubt: &Doubt, width: usize, most: usize) -> Vec<Line> {
    let name = model.item().map_or("", |item| item.name.as_str());
    let rest = "  y does it, any other key cancels";
    let asks = |words: &str| Line::new(Role::Warning, words).with(Role::Plain, rest);
    let wanted = match doubt {
        Doubt::Accept(wanted) => wanted,
        Doubt::Discard => return vec![asks(&format!("Discard {name}?"))],
        Doubt::Undo => return vec![asks("Undo the last accept?")],
        Doubt::Raise => {
            let raise = model.item().and_then(|item| item.raise.as_deref());
            return vec![asks(&format!("Give {}?", raise.unwrap_or_default()))];
        }
    };
    let gates = wanted.confirmed.as_deref().unwrap_or_default();
    let mut lines = Vec::new();
    if gates.is_empty() {
        let words = "No gate is set, so nothing is run to prove it.";
        lines.push(Line::new(Role::Muted, words));
    } else {
        let words = "This runs as you, in a scratch copy; your checkout waits for the last gate:";
        lines.push(Line::new(Role::Muted, words));
        for gate in gates {
            let rows = wrap(&Line::new(Role::Strong, gate), width.saturating_sub(2));
            let indented = |row: &Line| Line::new(Role::Muted, "  ").joined_to(row);
            lines.extend(rows.iter().map(indented));
        }
    }
    if lines.len() >= most {
        lines.truncate(most.saturating_sub(2));
        lines.push(Line::new(
            Role::Warning,
            "… a larger window shows the rest of it",
        ));
    }
    let names = model.names_of(&wanted.only);
    lines.push(match names.as_slice() {
        [one] => match model.item().and_then(|item| model.parts.count(&item.run)) {
            Some(ChosenParts { chosen, of }) if !wanted.parts.is_empty() => {
                let parts = count(of, "part");
                asks(&format!("Accept {chosen} of {parts} of {one}?"))
            }
            Some(_) | None => asks(&format!("Accept {one}?")),
        },
        names => {
            let number = count(names.len(), "result");
            asks(&format!("Accept {number} as far as they stay green?"))
        }
    });
    lines
}
