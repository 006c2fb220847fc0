//! The lines that an event adds to a window or to the progress in a log.

use pi_subagents_delegation::child_protocol::ChildRecord;
use pi_subagents_delegation::{AssistantMessage, Happening, Message, Part, ToolCall};

use crate::preview::{self, PreviewContext};
use crate::{Role, Room, WindowLine};

/// More of one printed line is never shown, and so never copied.
const LONGEST_PRINTED: usize = 64 << 10;

/// How many lines of stderr are shown that came at once; a child may write thousands.
const MOST_COMPLAINTS: usize = 100;

/// Lines that one event adds to a window.
#[derive(Debug, Default)]
pub(crate) struct EventLines {
    pub(crate) lines: Vec<WindowLine>,
    /// The call that the last line shows, where its result gets a line of its own.
    pub(crate) call: Option<String>,
}

/// Returns the lines of an event, piece by piece; most events have none.
pub(crate) fn lines_of(
    happening: &Happening,
    context: &PreviewContext,
    room: Room,
) -> Vec<EventLines> {
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
        Happening::Accepted(_)
        | Happening::Started(_)
        | Happening::Stopping(_)
        | Happening::Ended(_) => Vec::new(),
    }
}

/// Returns the last lines of what came on stderr at once, each marked as such.
fn complaints(text: &str) -> String {
    let lines = text.rsplit('\n').filter(|line| !line.trim().is_empty());
    let newest: Vec<String> = lines
        .take(MOST_COMPLAINTS)
        .map(|line| format!("[stderr]: {line}"))
        .collect();
    let oldest_first: Vec<String> = newest.into_iter().rev().collect();
    oldest_first.join("\n")
}

fn lines_of_record(record: &ChildRecord, context: &PreviewContext, room: Room) -> Vec<EventLines> {
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

fn lines_of_answer(
    answer: &AssistantMessage,
    context: &PreviewContext,
    room: Room,
) -> Vec<EventLines> {
    answer
        .parts
        .iter()
        .flat_map(|part| match part {
            Part::Text(text) => words(Role::Plain, text, room),
            Part::ToolCall(call) => vec![lines_of_call(call, context)],
            Part::Thinking(_) | Part::Image { .. } => Vec::new(),
        })
        .collect()
}

fn lines_of_call(call: &ToolCall, context: &PreviewContext) -> EventLines {
    EventLines {
        lines: WindowLine::call(
            preview::call(&call.name, &call.arguments, context),
            preview::whole(&call.name, &call.arguments, context),
        ),
        call: preview::has_summary(&call.name).then(|| call.id.clone()),
    }
}

/// Makes lines of a text. Only the end of a long text can stay in a window, so only the end is
/// read.
fn words(role: Role, text: &str, room: Room) -> Vec<EventLines> {
    let mut lines: Vec<WindowLine> = text
        .split('\n')
        .rev()
        .filter_map(|line| WindowLine::words(role, line, room))
        .take(room.lines)
        .collect();
    lines.reverse();
    vec![EventLines { lines, call: None }]
}
