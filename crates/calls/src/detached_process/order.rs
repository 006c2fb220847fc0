//! The messages between a caller and the detached process: one JSON object per line.

use pi_subagents_records::{CallerName, Detached};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_record::CallRecord;
use crate::caller::{Caller, CallingPi, Overrides, Parking};
use crate::questions::RunQuestion;
use crate::service::ToolAnswer;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::{Answerers, Counts};

/// The order for the detached process. There is no secret in it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachedOrder {
    /// The tool that was called.
    pub(super) tool: OrderedTool,
    /// Its arguments.
    pub(super) arguments: Value,
    /// The caller.
    pub(super) caller: OrderingCaller,
    /// The number of its runs that work at once.
    pub(super) concurrency: usize,
    /// True if the caller shares its places among several calls: then the runs wait until it gives
    /// them some, and have all of them when it is gone.
    #[serde(default)]
    pub(super) is_given_places: bool,
    /// The record in which the call keeps how far it is and its answer, if it outlives its caller
    /// from the beginning.
    #[serde(default)]
    pub(super) record: Option<String>,
    /// Notes of the caller's door that the answer ends with.
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

/// The facts about the caller that the detached process cannot see for itself.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OrderingCaller {
    pub(super) door: Door,
    name: CallerName,
    trusts_project: bool,
    overrides: Overrides,
    pi: Option<CallingPi>,
    /// Those who see the questions of its runs, if somebody waits for the call.
    #[serde(default)]
    pub(super) answerers: Answerers,
}

impl OrderingCaller {
    fn of(caller: &Caller) -> Self {
        Self {
            door: caller.door,
            name: caller.name.clone(),
            trusts_project: caller.trusts_project,
            overrides: caller.overrides.clone(),
            pi: caller.pi.clone(),
            answerers: caller.answerers,
        }
    }

    /// Returns the owner that works for this caller.
    pub(super) fn detached(&self) -> Detached {
        Detached {
            pi_session: self.pi.as_ref().map(|pi| pi.session.clone()),
        }
    }

    /// Returns the caller, at the place where we were started for them.
    pub(super) fn into_caller(self, tool: OrderedTool, places: Places) -> Caller {
        Caller {
            door: self.door,
            name: self.name,
            trusts_project: self.trusts_project,
            overrides: self.overrides,
            pi: self.pi,
            answerers: match tool {
                // A person finds the questions of background runs in the inbox, and the model of a
                // pi gets them as messages.
                OrderedTool::Background => Answerers {
                    person: true,
                    ..self.answerers
                },
                OrderedTool::Delegate | OrderedTool::Subagent => self.answerers,
            },
            // Its process ends some time, also if nobody comes back with the answer.
            parking: Parking::InTime,
            ..Caller::at(places)
        }
    }
}

/// The tools that a detached process can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OrderedTool {
    /// `background_agent`, whose end nobody waits for.
    Background,
    /// `delegate_to_subagents`, whose answer is waited for as long as somebody does.
    Delegate,
    /// `subagent`, likewise.
    Subagent,
}

impl From<AnsweredCall> for ToolAnswer {
    fn from(answer: AnsweredCall) -> Self {
        Self {
            is_refused: answer.is_refused,
            ..Self::new(answer.text, answer.details)
        }
    }
}

impl DetachedOrder {
    /// Makes an order for a run that nobody waits for.
    pub(crate) fn new(arguments: &Value, caller: &Caller) -> Self {
        Self::of_call(OrderedTool::Background, arguments, caller, 1)
    }

    /// Makes an order for a call.
    pub fn of_call(
        tool: OrderedTool,
        arguments: &Value,
        caller: &Caller,
        concurrency: usize,
    ) -> Self {
        Self {
            tool,
            arguments: arguments.clone(),
            caller: OrderingCaller::of(caller),
            concurrency,
            is_given_places: false,
            record: None,
            notes: Vec::new(),
        }
    }

    /// Lets the runs of the call wait for places, which the caller gives it.
    #[must_use]
    pub fn given_places(self) -> Self {
        Self {
            is_given_places: true,
            ..self
        }
    }

    /// Returns the number of its runs that work at once, if they have all their places.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// Lets the call outlive its caller from the beginning: nobody waits for it, and its record has
    /// its answer.
    #[must_use]
    pub fn kept_in(self, record: &CallRecord, notes: Vec<String>) -> Self {
        Self {
            record: Some(record.id().to_owned()),
            notes,
            ..self
        }
    }
}

/// The answers of the detached process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Reply {
    /// The run of `background_agent` is in the index.
    TakenOver(Box<TakenOver>),
    Refused(CommandError),
    /// All runs of a call are in the index.
    Begun(Vec<BegunRun>),
    /// The progress of a call.
    Progress(ProgressReply),
    /// A run of a call asks something that a person at the door is to see.
    Asked(Box<RunQuestion>),
    /// The answer of a call, which is the last reply.
    Answered(AnsweredCall),
}

/// The line by which a caller that waits for a call lets it go on without them. Any other line, and
/// the end of the input without a line, ends the call: its caller has cancelled it, or is gone and
/// knows nothing of its runs.
pub(super) const GO_ON: &str = "continue";

/// The word before the id of a question that the person at the door does not answer now.
pub(super) const LATER: &str = "later ";

/// The word before a number of places, on a line to the detached process.
pub(super) const PLACES: &str = "places ";

/// A run of a call that has a process of its own now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BegunRun {
    pub name: String,
    pub run: String,
    pub session: String,
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressReply {
    pub(super) finished: usize,
    pub(super) total: usize,
    pub(super) message: String,
}

/// The answer of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredCall {
    pub text: String,
    pub details: Value,
    /// True if nothing of it was begun.
    pub is_refused: bool,
}

impl AnsweredCall {
    /// Returns the answer of a call that did not begin.
    pub fn refused(text: String) -> Self {
        Self {
            text,
            details: Value::Null,
            is_refused: true,
        }
    }
}

/// A run that has a process of its own now.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenOver {
    /// The run as it begins.
    pub(crate) row: RunRow,
    /// The background runs of this user, with this one.
    pub(crate) counts: Counts,
    /// The reason why its task was refused, if it was: then the run is over already.
    pub(crate) refusal: Option<String>,
    /// The warnings for the caller.
    pub(crate) warnings: Vec<String>,
}
