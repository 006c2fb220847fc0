//! `get_subagent_output` and `get_subagent_session`: the messages of a session.

use pi_subagents_records::transcript;
use pi_subagents_records::transcript::Prompts;
use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Gap, HeldMessages, RunHistory, RunId, SessionId, Status};
use serde_json::{Map, Value, json};

use super::tools::{OUTPUT, SESSION, SessionCall};
use crate::arguments;
use crate::caller::Caller;
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::find::was_kept_out;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::known_session::{KnownRun, KnownSession, find_session};
use pi_subagents_runs::missing_record::{LostRecord, what_is_missing};
use pi_subagents_runs::upkeep::tend_records;

/// The answer of a run without any text so far.
const NO_TEXT_YET: &str = "(still running, no text yet)";

/// A session that was read.
pub struct ReadSession {
    session: SessionId,
    /// Its runs, oldest first.
    runs: Vec<KnownRun>,
    /// The messages of each run.
    histories: Vec<RunHistory>,
    /// Its runs that cannot be read.
    lost: Vec<LostRecord>,
    /// The run that was asked for, if the id was that of a run.
    meant: Option<RunId>,
}

/// Answers with the last words of the latest run.
pub fn output(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(service, arguments, caller, OUTPUT)?.only_meant()?;
    Ok(read.with_missing(read.output(lines(service, caller))))
}

/// Answers with all messages.
pub fn session(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let read = read_for(service, arguments, caller, SESSION)?;
    let whole = read.whole(lines(service, caller), Prompts::LeftOut);
    Ok(read.with_missing(whole))
}

fn read_for(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
    tool: &str,
) -> Result<ReadSession, CommandError> {
    let call: SessionCall = arguments::read(arguments)?;
    let how = |run: &str| format!("{tool} with sessionId {run}");
    tend_records(&service.owner.index, &caller.places);
    ReadSession::find(&service.owner.index, caller, &call.session_id, how)
}

fn lines(service: &CallService, caller: &Caller) -> usize {
    service.configuration(caller).settings.max_lines_per_window
}

impl ReadSession {
    /// Reads the session with this id or the beginning of it, or the session of the run with this
    /// id; `how` returns the words that name a session by a run.
    pub fn find(
        index: &KnownIndex,
        caller: &Caller,
        id: &str,
        how: impl Fn(&str) -> String,
    ) -> Result<Self, CommandError> {
        let session_runs = caller.session_runs.as_deref();
        let found = find_session(index, &caller.places, session_runs, id);
        let found = found.map_err(|error| match error {
            absent if absent.is_absence() => not_found(id, caller),
            other => ask_which(&other, how),
        })?;
        Self::read(found, HeldMessages::Newest)
    }

    /// Reads a session that was found.
    pub fn read(found: KnownSession, held: HeldMessages) -> Result<Self, CommandError> {
        let (session, runs, meant) = (found.id, found.runs, found.meant);
        let mut read: Vec<(KnownRun, RunHistory)> = Vec::new();
        let mut lost = Vec::new();
        for run in runs {
            match run.history(held) {
                Ok(history) => {
                    let history = with_gap(&run, history);
                    read.push((run, history));
                }
                Err(error) => lost.push(error),
            }
        }
        if read.is_empty()
            && let Some(latest) = lost.pop()
        {
            return Err(latest.into());
        }
        if !read.iter().all(|(_, history)| was_kept_out(history)) {
            let is_meant = |run: &KnownRun| meant.as_ref() == Some(&run.run);
            read.retain(|(run, history)| is_meant(run) || !was_kept_out(history));
        }
        let (runs, histories) = read.into_iter().unzip();
        Ok(Self {
            session,
            runs,
            histories,
            lost,
            meant,
        })
    }

    /// Keeps only the run that was asked for, if the id was that of a run.
    pub fn only_meant(mut self) -> Result<Self, CommandError> {
        let Some(meant) = &self.meant else {
            return Ok(self);
        };
        if let Some(lost) = self.lost.iter().position(|lost| lost.is_of(meant)) {
            return Err(self.lost.swap_remove(lost).into());
        }
        if let Some(at) = self.runs.iter().position(|run| run.run == *meant) {
            self.runs = vec![self.runs.swap_remove(at)];
            self.histories = vec![self.histories.swap_remove(at)];
            self.lost.clear();
        }
        Ok(self)
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &SessionId {
        &self.session
    }

    /// Returns the runs that were read, oldest first, each with its messages.
    pub fn runs(&self) -> impl Iterator<Item = (&KnownRun, &RunHistory)> {
        self.runs.iter().zip(&self.histories)
    }

    /// Returns the missing parts of the session, in one line.
    pub fn missing(&self) -> Option<String> {
        let gaps = self.runs.iter().zip(&self.histories);
        let gaps = gaps.filter_map(|(run, history)| gap_of(run, history));
        let all: Vec<String> = what_is_missing(&self.lost)
            .into_iter()
            .chain(gaps)
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Says that the latest run is still under way, if it is.
    pub fn more_to_come(&self, door: Door) -> Option<String> {
        let run = self.runs.last().filter(|run| run.is_under_way())?;
        let state = match self.histories.last()?.summary.started_at {
            Some(_) => "is still running; this is what it has said so far",
            None => "has not started yet",
        };
        let name = one_line(&run.name);
        let how = Advice::Wait(self.session.to_string()).words(door);
        Some(format!("{name} {state}. {how} waits for its end."))
    }

    /// Returns whether the last words of the latest run are its answer: it has completed.
    pub fn has_answered(&self) -> bool {
        let latest = self.histories.last();
        latest.is_some_and(|history| history.summary.status() == Status::Completed)
    }

    /// Describes the error of the latest run, if it has one, with advice on going on.
    pub fn problem(&self, door: Door) -> Option<String> {
        let ending = self.histories.last()?.summary.ending.as_ref()?;
        let (name, message) = (one_line(&self.runs.last()?.name), ending.message()?);
        let status = ending.status().as_str();
        let how = Advice::Resume(self.session.to_string()).words(door);
        Some(format!(
            "! {name} {status} — {message}\n! This is what it had said until then, and no finished answer.\nhint: Continue it with {how}."
        ))
    }

    /// Returns the answer of `get_subagent_output`.
    pub fn output(&self, max_lines: usize) -> ToolAnswer {
        let latest = self.histories.last().and_then(RunHistory::output);
        let text = latest.unwrap_or_else(|| self.without_text());
        ToolAnswer::new(text, self.details(max_lines).into())
    }

    /// Explains why the latest run has no answer, with advice; `None` if it has one.
    pub fn why_no_answer(&self) -> Option<CommandError> {
        let (run, history) = self.runs.last().zip(self.histories.last())?;
        if history.output().is_some() {
            return None;
        }
        let (name, session) = (one_line(&run.name), self.session.to_string());
        if run.is_under_way() {
            let state = match history.summary.started_at {
                Some(_) => "is still running and has said nothing yet",
                None => "has not started yet",
            };
            let error = CommandError::no_answer(format!("{name} {state}"));
            return Some(error.advise("Wait for it: ", Advice::Wait(session), ""));
        }
        let why = match (gap_of(run, history), &history.summary.ending) {
            (Some(gap), _) => gap,
            (None, Some(ending)) => match ending.message() {
                Some(message) => {
                    format!("it {} — {}", ending.status().as_str(), one_line(&message))
                }
                None => "it completed without a text".to_owned(),
            },
            (None, None) => "it has no end".to_owned(),
        };
        let error = CommandError::no_answer(format!("{name} has no answer: {why}"));
        let error = error.advise("See what it did: ", Advice::Session(session.clone()), "");
        Some(error.advise("Continue it with ", Advice::Resume(session), "."))
    }

    /// Returns the text in place of a missing answer.
    fn without_text(&self) -> String {
        let latest = self.runs.last().zip(self.histories.last());
        match latest.and_then(|(run, history)| gap_of(run, history)) {
            Some(gap) => format!("(the answer is not known: {gap})"),
            None if latest.is_some_and(|(run, _)| run.is_under_way()) => NO_TEXT_YET.to_owned(),
            None => transcript::NO_TEXT.to_owned(),
        }
    }

    /// Returns the answer of `get_subagent_session`.
    pub(crate) fn whole(&self, max_lines: usize, prompts: Prompts) -> ToolAnswer {
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
        ToolAnswer::new(
            transcript::for_reading(&self.histories, prompts),
            details.into(),
        )
    }

    /// Adds the missing parts of the session to an answer, for a model that reads nothing else.
    fn with_missing(&self, mut answer: ToolAnswer) -> ToolAnswer {
        if let Some(missing) = self.missing() {
            answer.text = format!("{}\n\n! {missing}", answer.text);
        }
        answer
    }

    /// Returns the details that both tools have.
    fn details(&self, max_lines: usize) -> Map<String, Value> {
        let run = self.runs.last();
        let status = self.histories.last().map(|run| run.summary.status());
        let missing = self
            .missing()
            .map(|missing| ("warnings".to_owned(), json!([missing])));
        let details = [
            ("sessionId".to_owned(), json!(self.session.as_str())),
            (
                "status".to_owned(),
                json!(status.map(Status::as_delegation_word)),
            ),
            ("taskName".to_owned(), json!(run.map(|run| &run.name))),
            ("runCount".to_owned(), json!(self.runs.len())),
            ("maxLines".to_owned(), json!(max_lines)),
        ];
        details.into_iter().chain(missing).collect()
    }
}

/// Describes the missing parts of a run's record, if there are any.
fn gap_of(run: &KnownRun, history: &RunHistory) -> Option<String> {
    let reasons = history.gap.as_ref()?.reasons.join("; ");
    let run = &run.run;
    Some(format!("the record of run {run} is incomplete: {reasons}"))
}

/// Notes that a run is over and nobody could write down how, as on a full disk: the last words of
/// its events need not be its answer.
fn with_gap(run: &KnownRun, mut history: RunHistory) -> RunHistory {
    if history.summary.ending.is_none() && !run.is_under_way() {
        history.gap.get_or_insert_with(|| Gap {
            reasons: vec!["it has no end".to_owned()],
            output: None,
        });
    }
    history
}

fn not_found(id: &str, caller: &Caller) -> CommandError {
    let error = CommandError::not_found(format!(
        "Session \"{id}\" not found. The session may have expired or the ID is incorrect."
    ));
    hint_at_all(error, caller)
}

/// Adds a hint on finding the id, for callers who may know all runs.
pub(super) fn hint_at_all(error: CommandError, caller: &Caller) -> CommandError {
    match caller.session_runs {
        None => error.advise("", Advice::ListRuns, "."),
        Some(_) => error,
    }
}
