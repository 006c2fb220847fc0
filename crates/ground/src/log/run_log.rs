//! Logs the events of runs: ids, kinds, sizes and times, and none of the words.

use std::path::Path;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Dollars, Ending, EventSink, Happening, RunEvent, RunId, RunSummary};
use tracing::field::display;
use tracing::{Level, debug, enabled, info, trace, warn};

/// The length of the longest tool name that is logged.
const LONGEST_NAME: usize = 64;

/// A sink that logs the events of runs.
#[derive(Debug)]
pub struct RunLog;

impl RunLog {
    /// Returns the sink, or `None` if the events of runs are not logged.
    pub fn if_wanted() -> Option<Box<dyn EventSink>> {
        enabled!(Level::WARN).then(|| Box::new(Self) as Box<dyn EventSink>)
    }
}

impl EventSink for RunLog {
    fn on_events(&mut self, events: &[RunEvent], _summary: &RunSummary) {
        for event in events {
            log(&event.run, &event.happening);
        }
    }
}

fn log(run: &RunId, happening: &Happening) {
    match happening {
        Happening::Accepted(task) => {
            let directory = task.directory.as_deref().map(Path::display).map(display);
            let seconds = task.timeout.map(|timeout| timeout.as_secs_f64());
            info!(%run, session = %task.session, directory, timeout_s = seconds, "run accepted");
        }
        Happening::Placed(worker) => info!(%run, worker, "run placed"),
        Happening::Started(started) => {
            let runner = started.runner.as_str();
            let (keeper, child) = (started.keeper, started.child);
            info!(%run, runner, keeper, child, "child started");
        }
        Happening::Said { line, record } => log_record(run, line.len(), record),
        Happening::Printed(line) => debug!(%run, bytes = line.len(), "child printed no record"),
        Happening::Complained(text) => {
            let lines = text.lines().count();
            debug!(%run, lines, bytes = text.len(), "child wrote to stderr");
        }
        Happening::Granted(grant) => {
            let (cost, tokens) = (grant.cost.map(Dollars::amount), grant.tokens);
            info!(%run, cost, tokens, "run granted");
        }
        Happening::Warned(text) => debug!(%run, bytes = text.len(), "a person was warned"),
        Happening::Steered(text) => info!(%run, bytes = text.len(), "run steered"),
        Happening::FellBack(change) => {
            info!(%run, from = %change.from, to = %change.to, why = %change.reason, "model changed");
        }
        Happening::Rung(rung) => info!(%run, step = ?rung.step, "ladder"),
        Happening::Corrected(_) => info!(%run, "child corrected"),
        Happening::Reported(report) => {
            let errors = report.misfit.as_ref().map_or(0, |misfit| misfit.count);
            info!(%run, attempt = report.attempt, errors, "report checked");
        }
        Happening::Gated(gated) => {
            info!(%run, attempt = gated.attempt, step = ?gated.step, "gate");
        }
        Happening::Asked(question) => {
            info!(%run, question = %question.id, kind = ?question.kind, "run asks");
        }
        Happening::Answered(answered) => {
            info!(%run, question = %answered.id, "question is no longer open");
        }
        Happening::Stopping(decision) => info!(%run, ?decision, "run is stopped"),
        Happening::Ended(ending) => log_ending(run, ending),
    }
}

fn log_record(run: &RunId, bytes: usize, record: &ChildRecord) {
    match record {
        ChildRecord::AgentStarted => debug!(%run, "agent started"),
        ChildRecord::MessageEnded(_) => debug!(%run, bytes, "message ended"),
        ChildRecord::ToolStarted { tool, .. } => {
            debug!(%run, tool = known(tool), bytes, "tool started");
        }
        ChildRecord::ToolEnded { tool, is_error, .. } => {
            debug!(%run, tool = known(tool), is_error, bytes, "tool ended");
        }
        ChildRecord::Retrying {
            attempt,
            max_attempts,
            ..
        } => warn!(%run, attempt, max_attempts, "model is asked again"),
        ChildRecord::Compacting { .. } => debug!(%run, "conversation is shortened"),
        ChildRecord::Compacted { .. } => debug!(%run, "conversation was shortened"),
        ChildRecord::Settled => debug!(%run, "child settled"),
        ChildRecord::Responded(response) => {
            let is_refused = response.error.is_some();
            debug!(%run, command = known(&response.command), is_refused, "child responded");
        }
        ChildRecord::Asked(question) => {
            debug!(%run, method = known(&question.method), "extension asked");
        }
        ChildRecord::ExtensionFailed { .. } => warn!(%run, "extension failed"),
        ChildRecord::Delta | ChildRecord::ToolProgressed { .. } | ChildRecord::Repetition => {
            trace!(%run, bytes, "child works");
        }
        ChildRecord::Other { kind } => trace!(%run, kind = known(kind), bytes, "other record"),
    }
}

fn log_ending(run: &RunId, ending: &Ending) {
    let status = ending.status().as_str();
    let code = ending.exit_code();
    match ending {
        Ending::CouldNotStart { reason }
        | Ending::NotConfined { reason }
        | Ending::Lost { reason } => {
            warn!(%run, status, code, reason, "run ended");
        }
        Ending::SessionInUse { holder, .. } => {
            info!(%run, status, code, ending = "session in use", holder, "run ended");
        }
        _ => info!(%run, status, code, ending = kind(ending), "run ended"),
    }
}

/// Returns the kind of an ending without the words of others.
fn kind(ending: &Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::ReportedError { .. } => "reported error",
        Ending::NeverFinalized { .. } => "never finalized",
        Ending::SchemaNotMet { .. } => "schema not met",
        Ending::GateFailed { .. } => "gate failed",
        Ending::ModelError { .. } => "model error",
        Ending::CutOff => "cut off",
        Ending::Refused { .. } => "refused",
        Ending::NotStarted { .. } => "not started",
        Ending::SessionInUse { .. } => "session in use",
        Ending::CouldNotStart { .. } => "could not start",
        Ending::NotConfined { .. } => "not confined",
        Ending::Exited { .. } => "exited",
        Ending::Signalled { .. } => "signalled",
        Ending::TimedOut { .. } => "timed out",
        Ending::Looped { .. } => "looped",
        Ending::Overspent(_) => "overspent",
        Ending::OutOfTurns { .. } => "out of turns",
        Ending::Parked { .. } => "parked",
        Ending::Stopped => "stopped",
        Ending::Interrupted(_) => "interrupted",
        Ending::Lost { .. } => "lost",
    }
}

/// Returns a name that a child gave, unless it looks like no name: a model may write anything
/// there.
fn known(name: &str) -> &str {
    let is_part = |letter: u8| letter.is_ascii_alphanumeric() || b"_-.".contains(&letter);
    let is_name = name.len() <= LONGEST_NAME && name.bytes().all(is_part);
    if is_name { name } else { "?" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_taken_for_names() {
        assert_eq!(known("mcp__a-b.c__d"), "mcp__a-b.c__d");
        assert_eq!(known("the answer is 42"), "?");
        assert_eq!(known(&"a".repeat(LONGEST_NAME + 1)), "?");
    }
}
