//! The lines that an event adds to a window or to the progress in a log.

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    AssistantMessage, CheckedReport, GateStep, Gated, Happening, Message, Part, ToolCall,
};

use crate::preview::{CallPreview, PreviewContext};
use crate::report::words_of_report;
use crate::room::Room;
use crate::window_line::WindowLine;
use crate::{Line, Role, markdown};

/// The number of bytes of one printed line that are shown, and so copied.
const LONGEST_PRINTED: usize = 64 << 10;

/// The number of lines of stderr that are shown if they came at once; a child may write thousands.
const MOST_COMPLAINTS: usize = 100;

/// A piece that one event adds to a window.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Lines of words, at least one.
    Words(Vec<WindowLine>),
    /// A call that has no result yet.
    Call { id: String, preview: CallPreview },
}

/// Returns the lines of an event, piece by piece; most events have no lines.
pub(crate) fn lines_of(happening: &Happening, context: &PreviewContext, room: Room) -> Vec<Piece> {
    let words = |role, text: &str| words(role, text, room);
    match happening {
        Happening::Said { record, .. } => lines_of_record(record, context, room),
        Happening::Printed(line) => {
            let shown = &line[..line.len().min(LONGEST_PRINTED)];
            words(Role::Plain, &String::from_utf8_lossy(shown))
        }
        Happening::Complained(text) => words(Role::Muted, &complaints(text)),
        Happening::Warned(warning) => words(Role::Warning, &format!("warning: {warning}")),
        Happening::Steered(message) => words(Role::Accent, &format!("steered: {message}")),
        Happening::Corrected(message) => words(Role::Accent, &format!("corrected: {message}")),
        Happening::Reported(report) => words(report_role(report), &report_words(report)),
        Happening::Gated(gated) => words(gate_role(gated), &gate_words(gated)),
        Happening::Accepted(_)
        | Happening::Placed(_)
        | Happening::Started(_)
        | Happening::Stopping(_)
        | Happening::Ended(_) => Vec::new(),
    }
}

fn report_role(report: &CheckedReport) -> Role {
    match report.misfit {
        None => Role::Success,
        Some(_) => Role::Failed,
    }
}

/// Says how a report was checked.
pub fn report_words(report: &CheckedReport) -> String {
    let attempt = report.attempt;
    match &report.misfit {
        None => format!("report {attempt} meets the output schema"),
        Some(misfit) => {
            let first = misfit.lines.first().map_or("", String::as_str);
            let more = match misfit.count.saturating_sub(1) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("report {attempt} does not meet the output schema: {first}{more}")
        }
    }
}

fn gate_role(gated: &Gated) -> Role {
    match gated.step {
        GateStep::Began => Role::Accent,
        GateStep::Passed => Role::Success,
        GateStep::Failed { .. } => Role::Failed,
    }
}

/// Describes a step of a gate.
pub fn gate_words(gated: &Gated) -> String {
    let command = &gated.command;
    match &gated.step {
        GateStep::Began if gated.attempt > 1 => {
            format!("gate: {command} (attempt {})", gated.attempt)
        }
        GateStep::Began => format!("gate: {command}"),
        GateStep::Passed => format!("gate passed: {command}"),
        GateStep::Failed { reason } => format!("gate failed ({reason}): {command}"),
    }
}

/// Returns the lines for a reader of the whole run about an event that is neither a message of the
/// model nor the result of a tool: a warning, a retry, a line that the child printed.
pub fn remarks(happening: &Happening) -> Vec<Line> {
    if let Happening::Said {
        record: ChildRecord::MessageEnded(_),
        ..
    } = happening
    {
        return Vec::new();
    }
    let context = PreviewContext::default();
    let pieces = lines_of(happening, &context, Room::WHOLE).into_iter();
    let lines = pieces.flat_map(|piece| match piece {
        Piece::Words(lines) => lines,
        Piece::Call { .. } => Vec::new(),
    });
    lines.map(|line| line.line).collect()
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

fn lines_of_record(record: &ChildRecord, context: &PreviewContext, room: Room) -> Vec<Piece> {
    let words = |role, text: &str| words(role, text, room);
    match record {
        ChildRecord::MessageEnded(Message::Assistant(answer)) => {
            lines_of_answer(answer, context, room)
        }
        ChildRecord::Retrying {
            attempt,
            max_attempts,
            error,
        } => words(
            Role::Warning,
            &format!("retrying {attempt}/{max_attempts}: {error}"),
        ),
        ChildRecord::Compacting { reason } => words(
            Role::Muted,
            &format!("compacting the conversation: {reason}"),
        ),
        ChildRecord::ExtensionFailed { error } => {
            words(Role::Warning, &format!("extension failed: {error}"))
        }
        _ => Vec::new(),
    }
}

fn lines_of_answer(answer: &AssistantMessage, context: &PreviewContext, room: Room) -> Vec<Piece> {
    answer
        .parts
        .iter()
        .flat_map(|part| match part {
            Part::Text(text) => speech(text, context, room),
            Part::ToolCall(call) => match words_of_report(call) {
                Some(report) => lines_of_report(&report, context, room),
                None => vec![call_of(call, context)],
            },
            Part::Thinking(_) | Part::Image { .. } => Vec::new(),
        })
        .collect()
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
    let lines = markdown::unwrapped(end, context.width());
    let skipped = lines.len().saturating_sub(room.lines);
    let lines = lines.into_iter().skip(skipped);
    let lines = lines.filter_map(|line| WindowLine::speech(line, room));
    piece(lines.collect())
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
