//! A session of ours as a person reads it inside pi: the prompt, each call with its output, and the
//! model's text as Markdown.

use pi_subagents_view::story::{Story, What};
use pi_subagents_view::{Line, PreviewContext, Role, markdown, preview, words_of_report};
use pi_subagents_vocabulary::{Ending, FINALIZE_TOOL, RunHistory, ToolCall, ToolResult, text};

/// The number of lines of a tool's answer that are shown.
const RESULT_LINES: usize = 8;

/// The number of columns of one such line.
const RESULT_COLUMNS: usize = 400;

/// The number of lines of a page that pi's session keeps; the newest count.
const LONGEST_PAGE: usize = 2_000;

/// Draws runs of a session, oldest first.
pub(super) fn page(runs: &[&RunHistory], context: &PreviewContext, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            lines.push(Line::new(Role::Heading, &format!("Run {}", number + 1)));
        }
        let mut story = Story::default();
        for message in &run.messages {
            let items = story.message(message);
            lines.extend(
                items
                    .iter()
                    .flat_map(|what| lines_of(what, context, columns)),
            );
            lines.push(Line::default());
        }
        let error = run.summary.ending.as_ref().and_then(Ending::message);
        lines.extend(error.map(|error| Line::new(Role::Failed, &format!("Error: {error}"))));
    }
    while lines.last().is_some_and(|line| line.spans().is_empty()) {
        lines.pop();
    }
    newest(lines)
}

fn newest(mut lines: Vec<Line>) -> Vec<Line> {
    let hidden = lines.len().saturating_sub(LONGEST_PAGE);
    if hidden > 0 {
        lines.drain(..hidden);
        let words = format!("… {} before these", text::count(hidden, "line"));
        lines.insert(0, Line::new(Role::Muted, &words));
    }
    lines
}

fn lines_of(what: &What<'_>, context: &PreviewContext, columns: usize) -> Vec<Line> {
    match what {
        What::Task(words) => quoted(words),
        What::Prompt(words) => quoted(words),
        What::Words(words) => markdown::render(words, columns),
        What::Call(call) => lines_of_call(call, context, columns),
        What::Answer(result) => lines_of_result(result),
        What::Thought(_)
        | What::Picture(_)
        | What::Begun { .. }
        | What::Done { .. }
        | What::Turn(_)
        | What::Retry(_)
        | What::Remark(_)
        | What::Ended(_) => Vec::new(),
    }
}

fn quoted(words: &str) -> Vec<Line> {
    let lines = words.lines();
    lines
        .map(|line| Line::new(Role::Accent, "> ").with(Role::Muted, line))
        .collect()
}

/// Draws a call. A report is drawn as its content.
fn lines_of_call(call: &ToolCall, context: &PreviewContext, columns: usize) -> Vec<Line> {
    let Some(report) = words_of_report(call) else {
        return preview::call(&call.name, &call.arguments, context);
    };
    let parts = report.iter();
    parts
        .flat_map(|(role, words)| match role {
            Role::Plain => markdown::render(words, columns),
            role => vec![Line::new(*role, words)],
        })
        .collect()
}

fn lines_of_result(result: &ToolResult) -> Vec<Line> {
    if result.tool == FINALIZE_TOOL && !result.is_error {
        return Vec::new();
    }
    let role = if result.is_error {
        Role::Failed
    } else {
        Role::Muted
    };
    let said = text::clean(&result.text());
    let all: Vec<&str> = said.trim_end().lines().collect();
    let shown = all.iter().take(RESULT_LINES);
    let more = all.len().saturating_sub(RESULT_LINES);
    shown
        .map(|line| format!("  {}", text::cut_columns(line, RESULT_COLUMNS)))
        .chain((more > 0).then(|| format!("  … {}", text::count(more, "more line"))))
        .map(|line| Line::new(role, &line))
        .collect()
}
