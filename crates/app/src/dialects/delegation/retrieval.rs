//! `get_subagent_output` and `get_subagent_session`: what was said in a session.

use pi_subagents_delegation::{Ending, RunHistory, Status};
use pi_subagents_sessions::{FindError, IndexedRun, Store, history, transcript};
use serde_json::{Map, Value, json};

use super::tools::SessionCall;
use crate::caller::Caller;
use crate::dialects::arguments;
use crate::error::CommandError;
use crate::recorded::{find_runs, how_to_resume};
use crate::toolbox::{ToolAnswer, Toolbox};

/// A session, read from its record.
pub(crate) struct ReadSession {
    /// Its runs, oldest first.
    runs: Vec<IndexedRun>,
    /// What was said in each.
    histories: Vec<RunHistory>,
}

/// The last words of the latest run.
pub(crate) fn output(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(toolbox, arguments, caller)?;
    Ok(read.output(lines(toolbox, caller)))
}

/// Everything that was said.
pub(crate) fn session(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(toolbox, arguments, caller)?;
    Ok(read.whole(lines(toolbox, caller)))
}

fn read_for(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ReadSession, CommandError> {
    let call: SessionCall = arguments::read(arguments)?;
    ReadSession::find(&toolbox.owner.store, caller, &call.session_id)
}

fn lines(toolbox: &Toolbox, caller: &Caller) -> usize {
    toolbox.configuration(caller).settings.max_lines_per_window
}

impl ReadSession {
    /// Reads the session, or the one run, with this id or the beginning of it.
    pub(crate) fn find(store: &Store, caller: &Caller, id: &str) -> Result<Self, CommandError> {
        let runs = match find_runs(store, &caller.places, id) {
            Err(FindError::NotFound(_)) => return Err(not_found(id)),
            other => other?,
        };
        let histories = runs.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { runs, histories })
    }

    /// What went wrong in the latest run, if anything did, and how to go on with it.
    pub(crate) fn problem(&self) -> Option<String> {
        let message = self.histories.last()?.summary.ending.as_ref()?.message()?;
        let how = how_to_resume(self.runs.last()?.session.as_str());
        Some(format!("! {message}\nhint: {how}"))
    }

    /// The answer of `get_subagent_output`.
    pub(crate) fn output(&self, max_lines: usize) -> ToolAnswer {
        let latest = self.histories.last().and_then(RunHistory::output);
        let text = latest.unwrap_or_else(|| transcript::NO_TEXT.to_owned());
        ToolAnswer::new(text, self.details(max_lines).into())
    }

    /// The answer of `get_subagent_session`.
    pub(crate) fn whole(&self, max_lines: usize) -> ToolAnswer {
        let messages: usize = self.histories.iter().map(|run| run.messages.len()).sum();
        let latest = self.histories.last().map(|run| &run.summary);
        let exit_code = latest
            .and_then(|run| run.ending.as_ref())
            .map(Ending::exit_code);
        let mut details = self.details(max_lines);
        details.insert("messageCount".to_owned(), json!(messages));
        details.insert("exitCode".to_owned(), json!(exit_code));
        details.insert(
            "model".to_owned(),
            json!(latest.and_then(|run| run.model.as_ref())),
        );
        ToolAnswer::new(transcript::for_reading(&self.histories), details.into())
    }

    /// What both tools tell beside their text.
    fn details(&self, max_lines: usize) -> Map<String, Value> {
        let run = self.runs.last();
        let status = self.histories.last().map(|run| run.summary.status());
        Map::from_iter([
            (
                "sessionId".to_owned(),
                json!(run.map(|run| run.session.as_str())),
            ),
            (
                "status".to_owned(),
                json!(status.map(Status::as_delegation_word)),
            ),
            ("taskName".to_owned(), json!(run.map(|run| &run.name))),
            ("runCount".to_owned(), json!(self.runs.len())),
            ("maxLines".to_owned(), json!(max_lines)),
        ])
    }
}

fn not_found(id: &str) -> CommandError {
    CommandError::not_found(format!(
        "Session \"{id}\" not found. The session may have expired or the ID is incorrect."
    ))
    .hint("pi-subagents status --all lists the runs of this project.")
}

fn read(run: &IndexedRun) -> Result<RunHistory, CommandError> {
    history(&run.directory).map_err(|error| {
        CommandError::failed(format!(
            "the record of run {} in {} cannot be read",
            run.run,
            run.directory.path().display()
        ))
        .because(&error)
    })
}
