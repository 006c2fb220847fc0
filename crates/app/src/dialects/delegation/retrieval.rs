//! `get_subagent_output` and `get_subagent_session`: what was said in a session.

use pi_subagents_delegation::{RunHistory, RunId, SessionId, Status};
use pi_subagents_sessions::{FindError, Store, transcript};
use serde_json::{Map, Value, json};

use super::tools::{OUTPUT, SESSION, SessionCall};
use crate::caller::Caller;
use crate::conversations::ask_which;
use crate::dialects::arguments;
use crate::error::CommandError;
use crate::known_runs::{KnownRun, find_session};
use crate::recorded::{HOW_TO_LIST, how_to_resume, was_kept_out};
use crate::toolbox::{ToolAnswer, Toolbox};

/// A session that was read.
pub(crate) struct ReadSession {
    session: SessionId,
    /// Its runs, oldest first.
    runs: Vec<KnownRun>,
    /// What was said in each.
    histories: Vec<RunHistory>,
    /// The one that was asked for, if the id was that of a run.
    meant: Option<RunId>,
}

/// The last words of the latest run.
pub(crate) fn output(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(toolbox, arguments, caller, OUTPUT)?.only_meant();
    Ok(read.output(lines(toolbox, caller)))
}

/// Everything that was said.
pub(crate) fn session(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(toolbox, arguments, caller, SESSION)?;
    Ok(read.whole(lines(toolbox, caller)))
}

fn read_for(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
    tool: &str,
) -> Result<ReadSession, CommandError> {
    let call: SessionCall = arguments::read(arguments)?;
    let how = |run: &RunId| format!("{tool} with sessionId {run}");
    ReadSession::find(&toolbox.owner.store, caller, &call.session_id, how)
}

fn lines(toolbox: &Toolbox, caller: &Caller) -> usize {
    toolbox.configuration(caller).settings.max_lines_per_window
}

impl ReadSession {
    /// Reads the session with this id or the beginning of it, or the one of the run with this id;
    /// `how` is what to write to name one by a run.
    pub(crate) fn find(
        store: &Store,
        caller: &Caller,
        id: &str,
        how: impl Fn(&RunId) -> String,
    ) -> Result<Self, CommandError> {
        let found = find_session(store, caller, id).map_err(|error| match error {
            FindError::NotFound(_) => not_found(id, caller),
            other => ask_which(other, how),
        })?;
        let (session, runs, meant) = (found.id, found.runs, found.meant);
        let histories: Vec<RunHistory> = runs.iter().map(read).collect::<Result<_, _>>()?;
        let mut read: Vec<(KnownRun, RunHistory)> = runs.into_iter().zip(histories).collect();
        if !read.iter().all(|(_, history)| was_kept_out(history)) {
            let is_meant = |run: &KnownRun| meant.is_some() && run.run == meant;
            read.retain(|(run, history)| is_meant(run) || !was_kept_out(history));
        }
        let (runs, histories) = read.into_iter().unzip();
        Ok(Self {
            session,
            runs,
            histories,
            meant,
        })
    }

    /// The run that was asked for alone, if the id was that of a run.
    pub(crate) fn only_meant(mut self) -> Self {
        if let Some(at) = self.runs.iter().position(|run| run.run == self.meant)
            && self.meant.is_some()
        {
            self.runs = vec![self.runs.swap_remove(at)];
            self.histories = vec![self.histories.swap_remove(at)];
        }
        self
    }

    /// What went wrong in the latest run, if anything did, and how to go on with it.
    pub(crate) fn problem(&self) -> Option<String> {
        let message = self.histories.last()?.summary.ending.as_ref()?.message()?;
        let how = how_to_resume(self.session.as_str());
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
        let exit_code = self
            .runs
            .last()
            .zip(self.histories.last())
            .and_then(|(run, history)| run.exit_code(history));
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
            ("sessionId".to_owned(), json!(self.session.as_str())),
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

fn not_found(id: &str, caller: &Caller) -> CommandError {
    let error = CommandError::not_found(format!(
        "Session \"{id}\" not found. The session may have expired or the ID is incorrect."
    ));
    hint_at_all(error, caller)
}

/// Says how to find the id, to those who may know all.
pub(super) fn hint_at_all(error: CommandError, caller: &Caller) -> CommandError {
    match caller.memory {
        None => error.hint(HOW_TO_LIST),
        Some(_) => error,
    }
}

fn read(run: &KnownRun) -> Result<RunHistory, CommandError> {
    run.history().map_err(|error| {
        let name = run.run.as_ref().map_or(run.name.as_str(), RunId::as_str);
        let place = run.record().map(|record| record.directory.path().display());
        let place = place.map_or(String::new(), |path| format!(" in {path}"));
        CommandError::failed(format!("the record of run {name}{place} cannot be read"))
            .because(&error)
    })
}
