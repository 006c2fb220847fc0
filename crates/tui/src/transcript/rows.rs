//! An entry of a transcript as rows of a terminal, closed or open.

use pi_subagents_view::figures::clock;
use pi_subagents_view::paint::fit;
use pi_subagents_view::preview::{CallOutcome, CallPreview};
use pi_subagents_view::{Line, PreviewContext, Role, markdown, wrap};
use pi_subagents_vocabulary::{Part, text};
use serde_json::Value;

use super::{Call, Entry};

/// The number of lines of a closed prompt that are shown.
const PROMPT_LINES: usize = 12;

/// The number of lines of output or of one argument that are shown when a call is open.
const MOST_LINES: usize = 5_000;

/// The mark before each row of an open call.
const MARGIN: &str = "  │ ";

/// Returns whether there is more of an entry to see when it is opened.
pub(crate) fn can_open(entry: &Entry) -> bool {
    match entry {
        Entry::Prompt(words) => words.lines().count() > PROMPT_LINES,
        Entry::Call(_) => true,
        Entry::Speech(_) | Entry::Remark(_) => false,
    }
}

/// Draws an entry in this number of columns.
pub(crate) fn rows_of(
    entry: &Entry,
    is_open: bool,
    columns: usize,
    context: &PreviewContext,
) -> Vec<Line> {
    match entry {
        Entry::Prompt(words) => prompt(words, is_open, columns),
        Entry::Speech(words) => markdown::render(words, columns),
        Entry::Call(call) => {
            let context = PreviewContext {
                width: columns,
                ..context.clone()
            };
            if is_open {
                open_call(call, columns, &context)
            } else {
                closed_call(call, columns, &context)
            }
        }
        Entry::Remark(line) => wrap(line, columns),
    }
}

/// Quotes the prompt of the task.
fn prompt(words: &str, is_open: bool, columns: usize) -> Vec<Line> {
    let shown = if is_open { usize::MAX } else { PROMPT_LINES };
    let quoted = |line: &str| {
        let room = columns.saturating_sub(2).max(1);
        let rows = wrap(&Line::new(Role::Muted, line), room);
        let quote = |row: Line| Line::new(Role::Accent, "> ").with(Role::Muted, &row.text());
        rows.into_iter().map(quote).collect::<Vec<_>>()
    };
    let mut rows: Vec<Line> = words.lines().take(shown).flat_map(quoted).collect();
    let hidden = words.lines().count().saturating_sub(shown);
    if hidden > 0 {
        rows.extend(quoted(&more(hidden)));
    }
    rows
}

/// Says how many lines are hidden.
fn more(lines: usize) -> String {
    format!("… {}", text::count(lines, "more line"))
}

fn closed_call(call: &Call, columns: usize, context: &PreviewContext) -> Vec<Line> {
    let mut rows = title(call, columns, context);
    let hidden = call.output().map_or(0, |output| output.lines().count());
    let note = match hidden {
        0 => return rows,
        lines => format!("  {}", text::count(lines, "line")),
    };
    if let Some(last) = rows.last_mut() {
        let longer = last.clone().with(Role::Muted, &note);
        if longer.width() <= columns {
            *last = longer;
        }
    }
    rows
}

/// Draws the lines that name a call and show whether it failed.
fn title(call: &Call, columns: usize, context: &PreviewContext) -> Vec<Line> {
    let preview = CallPreview::new(&call.tool, &call.arguments, context);
    let lines = preview.lines(call.state.outcome(), columns);
    lines.iter().map(|line| fit(line, columns)).collect()
}

fn open_call(call: &Call, columns: usize, context: &PreviewContext) -> Vec<Line> {
    let mut rows = title(call, columns, context);
    let room = columns.saturating_sub(text::columns(MARGIN)).max(1);
    let mut inside = arguments(call);
    inside.push(outcome(call));
    if let Some(output) = call.output() {
        let role = match &call.answer {
            Some(answer) if answer.is_error => Role::Failed,
            _ => Role::Plain,
        };
        inside.extend(text_lines(role, &output));
    }
    if call.left_out > 0 {
        let words = format!("… {} bytes more are in the record", call.left_out);
        inside.push(Line::new(Role::Muted, &words));
    }
    let pictures = call.answer.iter().flat_map(|answer| &answer.parts);
    inside.extend(pictures.filter_map(|part| match part {
        Part::Image { mime_type } => Some(Line::new(Role::Muted, &format!("({mime_type})"))),
        _ => None,
    }));
    let wrapped = inside.iter().flat_map(|line| wrap(line, room));
    rows.extend(wrapped.map(|line| {
        let spans = line.spans().iter();
        spans.fold(Line::new(Role::Muted, MARGIN), |row, span| {
            row.with(span.role(), span.text())
        })
    }));
    rows
}

/// Draws all arguments of a call. The lines that an edit takes away and adds are marked.
fn arguments(call: &Call) -> Vec<Line> {
    match &call.arguments {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| argument(name, value))
            .collect(),
        Value::Null => Vec::new(),
        other => text_lines(Role::Plain, &pretty(other)),
    }
}

fn argument(name: &str, value: &Value) -> Vec<Line> {
    let label =
        |words: &str| Line::new(Role::Accent, &format!("{name}: ")).with(Role::Plain, words);
    match value {
        Value::Array(edits) if name == "edits" && !edits.is_empty() => {
            let mut lines = Vec::new();
            for edit in edits {
                lines.push(label(""));
                let Value::Object(fields) = edit else {
                    lines.extend(text_lines(Role::Plain, &pretty(edit)));
                    continue;
                };
                for (name, value) in fields {
                    lines.extend(argument(name, value));
                }
            }
            lines
        }
        Value::String(words) if name == "oldText" => changed(Role::Removed, "- ", words),
        Value::String(words) if name == "newText" => changed(Role::Added, "+ ", words),
        Value::String(words) if words.trim_end().contains('\n') => {
            let mut lines = vec![label("")];
            lines.extend(text_lines(Role::Plain, words));
            lines
        }
        Value::String(words) => vec![label(words.trim_end())],
        Value::Array(_) | Value::Object(_) => {
            let mut lines = vec![label("")];
            lines.extend(text_lines(Role::Plain, &pretty(value)));
            lines
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![label(&value.to_string())],
    }
}

fn changed(role: Role, mark: &str, words: &str) -> Vec<Line> {
    let lines = text_lines(role, words).into_iter();
    lines
        .map(|line| Line::new(role, mark).with(role, &line.text()))
        .collect()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Describes the outcome of the call, and its duration.
fn outcome(call: &Call) -> Line {
    let (role, words) = match &call.answer {
        None if *call.state.outcome() == CallOutcome::UnderWay => (Role::Warning, "still running"),
        None => (Role::Muted, "no result"),
        Some(answer) if answer.is_error => (Role::Failed, "failed"),
        Some(_) => (Role::Success, "done"),
    };
    let line = Line::new(role, words);
    match call.took {
        Some(took) if took.as_secs() > 0 => {
            line.with(Role::Muted, &format!(" after {}", clock(took)))
        }
        _ => line,
    }
}

/// Makes lines of a text. Only the first and the last lines of a very long text are kept.
fn text_lines(role: Role, words: &str) -> Vec<Line> {
    let clean = text::clean(words);
    let lines: Vec<&str> = clean.trim_end().lines().collect();
    let made = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| Line::new(role, line))
            .collect::<Vec<_>>()
    };
    if lines.len() <= MOST_LINES {
        return made(&lines);
    }
    let half = MOST_LINES / 2;
    let hidden = lines.len() - MOST_LINES;
    let mut rows = made(&lines[..half]);
    rows.push(Line::new(Role::Muted, &more(hidden)));
    rows.extend(made(&lines[lines.len() - half..]));
    rows
}
