//! What happened, as lines: one place for windows and for progress in a log.

use pi_subagents_delegation::child_protocol::ChildRecord;
use pi_subagents_delegation::{AssistantMessage, Happening, Message, Part, ToolCall};

use crate::preview::{self, PreviewContext};
use crate::{Role, Room, WindowLine};

/// More of one printed line is never shown, and so never copied.
const LONGEST_PRINTED: usize = 64 << 10;

/// A child may complain a thousand times at once; so many lines of it are shown.
const MOST_COMPLAINTS: usize = 100;

/// What one happening adds to a window.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) lines: Vec<WindowLine>,
    /// The call that the last line shows, where its result gets a line of its own.
    pub(crate) call: Option<String>,
}

/// Tells a happening in lines, piece by piece; most happenings have nothing to tell.
pub(crate) fn tell(happening: &Happening, context: &PreviewContext, room: Room) -> Vec<Told> {
    let words = |role, text: &str| words(role, text, room);
    match happening {
        Happening::Said { record, .. } => tell_record(record, context, room),
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

/// The last lines of what came on stderr at once, each marked as such.
fn complaints(text: &str) -> String {
    let lines = text.rsplit('\n').filter(|line| !line.trim().is_empty());
    let newest: Vec<String> = lines
        .take(MOST_COMPLAINTS)
        .map(|line| format!("[stderr]: {line}"))
        .collect();
    let oldest_first: Vec<String> = newest.into_iter().rev().collect();
    oldest_first.join("\n")
}

fn tell_record(record: &ChildRecord, context: &PreviewContext, room: Room) -> Vec<Told> {
    let words = |role, text: &str| words(role, text, room);
    match record {
        ChildRecord::MessageEnded(Message::Assistant(answer)) => tell_answer(answer, context, room),
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

fn tell_answer(answer: &AssistantMessage, context: &PreviewContext, room: Room) -> Vec<Told> {
    answer
        .parts
        .iter()
        .flat_map(|part| match part {
            Part::Text(text) => words(Role::Plain, text, room),
            Part::ToolCall(call) => vec![tell_call(call, context)],
            Part::Thinking(_) | Part::Image { .. } => Vec::new(),
        })
        .collect()
}

fn tell_call(call: &ToolCall, context: &PreviewContext) -> Told {
    Told {
        lines: WindowLine::call(
            preview::call(&call.name, &call.arguments, context),
            preview::whole(&call.name, &call.arguments, context),
        ),
        call: preview::has_summary(&call.name).then(|| call.id.clone()),
    }
}

/// Of a long text only the end can stay in a window, so only that is looked at.
fn words(role: Role, text: &str, room: Room) -> Vec<Told> {
    let mut lines: Vec<WindowLine> = text
        .split('\n')
        .rev()
        .filter_map(|line| WindowLine::words(role, line, room))
        .take(room.lines)
        .collect();
    lines.reverse();
    vec![Told { lines, call: None }]
}
