//! What a model or a person reads about background runs.

use std::time::Duration;

use pi_subagents_delegation::{Status, Timestamp, text};

use crate::calls::next_steps::Door;
use crate::runs::counts::Counts;
use crate::runs::row::{Row, RowStatus};

/// How much of a task is shown.
const SHORT_TASK: usize = 120;

/// How much of an answer is shown where it was not asked for.
const SHORT_ANSWER: usize = 300;

/// How much of an answer is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Whole,
    Beginning,
}

/// The answer of `background_agent`, with what its caller can do next.
pub(super) fn started(row: &Row, counts: Counts, door: Door) -> String {
    let wait = match door {
        Door::Mcp => format!(
            "Nobody tells you when it ends. Go on with something else; once you need the result, subagent_runs with action wait and ids [\"{}\"] waits for it and returns it.",
            row.run_id
        ),
        Door::Pi | Door::CommandLine if row.pi_session.is_some() => {
            "Do not poll for it: this conversation is told when it ends. Go on with something else; background_agent_status with this run id is for when you need the result now.".to_owned()
        }
        Door::Pi | Door::CommandLine => {
            "Do not poll for it: go on with something else, and ask background_agent_status with this run id once you need the result.".to_owned()
        }
    };
    format!(
        "Started {} in the background (run: {}, session: {}).\n{}\nRecord: {}\n{wait}",
        row.known_as(),
        row.run_id,
        row.session_id,
        self::counts(counts),
        row.artifacts.directory.display(),
    )
}

pub(super) fn counts(counts: Counts) -> String {
    format!(
        "Background runs: {}, {} in total.",
        counts.line(),
        counts.total()
    )
}

/// A run with what was asked and what came of it.
pub(crate) fn row(row: &Row, shown: Shown) -> String {
    let mut lines = vec![
        headline(row),
        format!("  task: {}", beginning(&row.task, SHORT_TASK)),
        format!("  cwd: {}", row.cwd.display()),
    ];
    if let Some(model) = &row.resolved_model {
        let asked = row.requested_model.as_ref().filter(|asked| *asked != model);
        let asked = asked.map_or(String::new(), |asked| format!(" (asked for: {asked})"));
        lines.push(format!("  model: {model}{asked}"));
    }
    lines.push(format!("  record: {}", row.artifacts.directory.display()));
    let Some(end) = &row.end else {
        return lines.join("\n");
    };
    if row.status != RowStatus::Completed {
        lines.push(format!("  go on with it: {}", go_on(row)));
    }
    lines.push(match (&end.output, shown) {
        (Some(output), Shown::Whole) => format!("\n{}", output.trim_end()),
        (Some(output), Shown::Beginning) => {
            format!("  answer: {}", beginning(output, SHORT_ANSWER))
        }
        (None, _) => "  answer: (no text output)".to_owned(),
    });
    lines.join("\n")
}

/// What its pi session is told when a run is over: a message, and a line for a moment.
pub(crate) fn notice(row: &Row) -> (String, String) {
    let mut lines = vec![format!("Background agent {}", state(row))];
    if let Some(end) = &row.end {
        if row.status != RowStatus::Completed {
            lines.push(format!("Go on with it: {}", go_on(row)));
        }
        let output = end.output.as_deref().map(str::trim_end);
        lines.extend(output.map(|output| format!("\n{output}")));
    }
    let brief = format!(
        "Background agent {} {}",
        row.known_as(),
        row.status.as_str()
    );
    (lines.join("\n"), brief)
}

/// How a model goes on with a run: whoever reads these texts calls tools.
fn go_on(row: &Row) -> String {
    let session = &row.session_id;
    match &row.preset {
        Some(preset) => {
            format!("background_agent or subagent with preset {preset} and sessionId {session}")
        }
        None => format!("delegate_to_subagents with a task that has resume {session}"),
    }
}

fn headline(row: &Row) -> String {
    format!("{} {}", Status::from(row.status).icon(), state(row))
}

/// Name, state and ids; why, if it did not complete.
fn state(row: &Row) -> String {
    let name = row.known_as();
    let status = row.status.as_str();
    let lasted = lasted(row).map_or(String::new(), |lasted| {
        let word = if row.is_over() { "after" } else { "for" };
        format!(" {word} {}", text::duration(lasted))
    });
    let ids = format!("(run: {}, session: {})", row.run_id, row.session_id);
    match row.end.as_ref().and_then(|end| end.error_message.as_ref()) {
        None => format!("{name}: {status}{lasted} {ids}"),
        Some(error) => {
            let error = text::one_line(error);
            format!("{name}: {status}{lasted} — {error} {ids}")
        }
    }
}

fn lasted(row: &Row) -> Option<Duration> {
    let began: Timestamp = row.accepted_at.parse().ok()?;
    let ended = match &row.end {
        Some(end) => end.ended_at.parse().ok()?,
        None => Timestamp::now(),
    };
    Duration::try_from(ended.duration_since(began)).ok()
}

fn beginning(words: &str, limit: usize) -> String {
    text::cut_characters(&text::one_line(words), limit)
}
