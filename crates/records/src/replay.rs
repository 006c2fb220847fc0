//! Reads a run back from its directory: the same events that were seen live.

use std::io::{self, BufReader};
use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Gap, Happening, HeldMessages, RunEvent, RunHistory, RunId, RunReport, Timestamp,
};

use crate::format::LifeRecord;
use crate::record::RecordedRun;
use crate::record_files::{RecordError, read_meta, read_result};
use crate::record_line::next_line;
use crate::run_dir::{self, RunDir};

/// Folds all that was recorded of a run.
pub fn history(directory: &RunDir, held: HeldMessages) -> Result<RunHistory, RecordError> {
    let mut history = RunHistory::holding(held);
    read_events(directory, |event| history.apply(event))?;
    match read_result(directory) {
        Ok(Some(result)) => add_end(&mut history, result.report, result.messages),
        Ok(None) => {}
        Err(error) => {
            history.gap = Some(Gap {
                reasons: vec![format!("{error}: {}", error.reason())],
                output: history.output(),
            });
        }
    }
    Ok(history)
}

/// Adds the facts that the result has and the events do not: a full disk may have cost the end of
/// the events, and a crash of the machine a part of them.
fn add_end(history: &mut RunHistory, end: RunReport, messages: usize) {
    let mut reasons = end.incomplete;
    if reasons.is_empty() {
        reasons.extend(damage(history, messages));
    }
    if history.summary.ending.is_none() {
        history.summary.ended_at = end.ended_at;
        history.summary.ending = end.ending.map(|ending| *ending);
    }
    if !reasons.is_empty() {
        history.gap = Some(Gap {
            reasons,
            output: end.output,
        });
    }
}

/// Describes what the events of a run lack, in comparison with the number of messages that its
/// owner counted.
fn damage(history: &RunHistory, messages: usize) -> Option<String> {
    let read = history.summary.messages;
    let lost = messages.saturating_sub(read);
    match lost {
        0 if history.summary.ending.is_some() => None,
        0 => Some("events.jsonl is damaged, it ends before the run did".to_owned()),
        _ => Some(format!(
            "events.jsonl is damaged, it has {read} of {messages} messages"
        )),
    }
}

/// Folds all that was recorded of a run whose other files were read before: only its events are
/// read.
pub fn history_of(run: &RecordedRun, held: HeldMessages) -> Result<RunHistory, RecordError> {
    let mut history = RunHistory::holding(held);
    let accepted = RunEvent {
        run: run.task.run.clone(),
        at: run.accepted_at,
        happening: Happening::Accepted(Arc::clone(&run.task)),
    };
    read_events_after(&run.directory, &accepted, |event| history.apply(event))?;
    if let Some(end) = run.end.clone() {
        add_end(&mut history, end, run.messages);
    }
    Ok(history)
}

/// Reads the recorded events of a run in order, one at a time, so that a long record is never in
/// memory as a whole.
pub fn read_events(directory: &RunDir, each: impl FnMut(&RunEvent)) -> Result<(), RecordError> {
    read_events_after(directory, &accepted(directory)?, each)
}

/// Does the same for a run whose first event is known.
fn read_events_after(
    directory: &RunDir,
    accepted: &RunEvent,
    mut each: impl FnMut(&RunEvent),
) -> Result<(), RecordError> {
    let mut reading = Reading::after(accepted);
    each(accepted);
    let unreadable = |error| RecordError::of_events(directory, error);
    let file = match directory.open_file(run_dir::EVENTS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(unreadable)?,
    };
    let mut reader = BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    while next_line(&mut reader, &mut line).map_err(unreadable)? {
        if let Some(event) = reading.event(&line) {
            each(&event);
        }
    }
    Ok(())
}

/// Reads the first event of a run from `meta.json`.
pub(crate) fn accepted(directory: &RunDir) -> Result<RunEvent, RecordError> {
    let (meta, task) = read_meta(directory)?;
    Ok(RunEvent {
        run: task.run.clone(),
        at: meta.accepted_at(),
        happening: Happening::Accepted(task),
    })
}

/// Reads the lines of a record in order and knows the time of each.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    run: RunId,
    /// The last time that stood in the record.
    at: Timestamp,
}

impl Reading {
    /// Begins behind the first event of a run.
    pub(crate) fn after(accepted: &RunEvent) -> Self {
        Self {
            run: accepted.run.clone(),
            at: accepted.at,
        }
    }

    /// Returns the event of a line. A line that cannot be read, such as the last line after a
    /// crash, is skipped.
    pub(crate) fn event(&mut self, line: &[u8]) -> Option<RunEvent> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(br#"{"type":"run_"#) {
            let record: LifeRecord = serde_json::from_slice(line).ok()?;
            self.at = record.at().unwrap_or(self.at);
            return record.into_happening().map(|what| self.at_this_time(what));
        }
        match decode(line) {
            ChildLine::Text => None,
            ChildLine::Record(record) => Some(self.at_this_time(Happening::Said {
                line: Bytes::copy_from_slice(line),
                record,
            })),
        }
    }

    /// Returns an event that happened at the last time that stood in the record.
    pub(crate) fn at_this_time(&self, happening: Happening) -> RunEvent {
        RunEvent {
            run: self.run.clone(),
            at: self.at,
            happening,
        }
    }
}
