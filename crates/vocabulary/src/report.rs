//! The report of a run: the one shape in which every program gets a run.
//!
//! It is the body of `result.json`, the row of every list, the JSON of every command and tool, and
//! the outcome in the library. A [`RunSummary`] makes it; a field is there as soon as it is known.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Allowance, AskedQuestion, Ending, NetworkReach, Receipt, Rejected, RunId, RunSummary, Runner,
    Sandbox, SandboxLevel, SessionId, Status, StopReason, Task, Usage, moment,
};

/// The version of the JSON in which programs get runs and the results of commands. It grows when a
/// field is renamed, removed or changes its meaning; new fields leave it as it is.
pub const SCHEMA_VERSION: u32 = 1;

/// One run, as far as it is known. A list may have ten thousand of them, and few of those have more
/// than the index knows; so the large parts are kept apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunReport {
    /// The id of the run.
    pub run_id: RunId,
    /// The id of its session, by which it can be continued.
    pub session_id: SessionId,
    /// The name of its task.
    pub name: String,
    /// The state of the run in one word.
    pub status: Status,
    /// The agent that it was given to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The prompt of the task. A list has its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The directory in which the sub-agent works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The kind of sub-agent: `pi` or `embedded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// The model as the caller wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_model: Option<String>,
    /// The provider of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model that answered, or that the sub-agent was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The level of its sandbox, unless it has none.
    #[serde(default, skip_serializing_if = "SandboxLevel::is_off")]
    pub sandbox: SandboxLevel,
    /// What its tools may reach, if it has a sandbox.
    #[serde(default, skip_serializing_if = "NetworkReach::is_full")]
    pub network: NetworkReach,
    /// The worker of a fleet that has the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The time at which the task was accepted.
    #[serde(default, with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub accepted_at: Timestamp,
    /// The time at which the sub-agent started.
    #[serde(
        default,
        with = "moment::optional",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub started_at: Option<Timestamp>,
    /// The time at which the run ended.
    #[serde(
        default,
        with = "moment::optional",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<Timestamp>,
    /// The exit code that a shell would expect, once the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The ending of the run. A list of very many runs has only the status and the exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Box<Ending>>,
    /// The reason why the run did not complete, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The answer of the sub-agent. A list has its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// True for a run that completed and said nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_text: bool,
    /// The result that meets the schema of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The best of the results that do not meet the schema, if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Box<Rejected>>,
    /// The reason why the model stopped last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The tokens and the cost of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The part of its budgets that it may use, all in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<Allowance>,
    /// What it waits for, while it does: a person, other runs, or the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// The number of tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<usize>,
    /// The questions of the run: those that are open, and what became of the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedQuestion>,
    /// The receipt of the run: the facts that were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Receipt>>,
    /// The warnings for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The parts that its record lacks, as sentences. If there are any, `output` holds the answer,
    /// because the events may lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
}

impl RunReport {
    /// Makes the report of a run of which little is known.
    pub fn new(run_id: RunId, session_id: SessionId, name: String, accepted_at: Timestamp) -> Self {
        Self {
            run_id,
            session_id,
            name,
            status: Status::Queued,
            agent: None,
            task: None,
            cwd: None,
            runner: None,
            requested_model: None,
            provider: None,
            model: None,
            sandbox: SandboxLevel::Off,
            network: NetworkReach::Full,
            worker: None,
            accepted_at,
            started_at: None,
            ended_at: None,
            exit_code: None,
            ending: None,
            error_message: None,
            output: None,
            no_text: false,
            structured: None,
            rejected: None,
            stop_reason: None,
            usage: None,
            granted: None,
            waits_for: None,
            tool_calls: None,
            questions: Vec::new(),
            receipt: None,
            warnings: Vec::new(),
            incomplete: Vec::new(),
        }
    }

    /// Makes the report of a task that was just accepted.
    pub fn of_task(task: &Task, accepted_at: Timestamp) -> Self {
        let (run, session) = (task.run.clone(), task.session.clone());
        Self {
            agent: task.definition.as_ref().map(|used| used.name.clone()),
            task: Some(task.prompt.clone()),
            cwd: Some(task.cwd.clone()),
            requested_model: task.requested_model.clone(),
            sandbox: task.sandbox.level,
            network: task.sandbox.network.clone(),
            ..Self::new(run, session, task.name.clone(), accepted_at)
        }
    }

    /// Returns whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.status.is_over()
    }

    /// Returns the model with its provider, as far as they are known.
    pub fn full_model(&self) -> Option<String> {
        let model = self.model.as_ref()?;
        let provider = self.provider.as_ref();
        Some(provider.map_or_else(|| model.clone(), |provider| format!("{provider}/{model}")))
    }

    /// Returns its sandbox for a screen with little room, if it has one.
    pub fn shown_sandbox(&self) -> Option<String> {
        self.sandbox_of_run().map(|sandbox| sandbox.shown())
    }

    /// Returns its sandbox with the network, if it has one.
    pub fn full_sandbox(&self) -> Option<String> {
        self.sandbox_of_run().map(|sandbox| sandbox.to_string())
    }

    fn sandbox_of_run(&self) -> Option<Sandbox> {
        (!self.sandbox.is_off()).then(|| Sandbox {
            level: self.sandbox,
            network: self.network.clone(),
            ..Sandbox::default()
        })
    }

    /// Takes a model that is written with its provider before it.
    pub fn set_full_model(&mut self, full: &str) {
        let (provider, model) = match full.split_once('/') {
            Some((provider, model)) => (Some(provider.to_owned()), model),
            None => (None, full),
        };
        self.provider = provider;
        self.model = Some(model.to_owned());
    }

    /// Takes the end that was recorded of the run. The facts about its task stay.
    pub fn take_end(&mut self, end: &Self) {
        let known = std::mem::replace(self, end.clone());
        self.agent = known.agent;
        self.task = known.task;
        self.cwd = known.cwd;
        self.runner = known.runner;
        self.requested_model = known.requested_model;
        self.sandbox = known.sandbox;
        self.network = known.network;
        self.accepted_at = known.accepted_at;
        if self.model.is_none() {
            self.provider = known.provider;
            self.model = known.model;
        }
        if self.worker.is_none() {
            self.worker = known.worker;
        }
    }

    /// Takes an ending, from which state, exit code and error follow.
    pub fn take_ending(&mut self, ending: Ending) {
        self.status = ending.status();
        self.exit_code = Some(ending.exit_code());
        self.error_message = ending.message();
        self.ending = Some(Box::new(ending));
    }

    /// Takes the figures of a run that goes on: its worker, its model and its usage so far.
    pub fn take_figures(&mut self, summary: &RunSummary) {
        self.worker.clone_from(&summary.worker);
        self.started_at = summary.started_at.or(self.started_at);
        if summary.model.is_some() {
            self.provider.clone_from(&summary.provider);
            self.model.clone_from(&summary.model);
        }
        self.waits_for.clone_from(&summary.waits_for);
        if summary.started_at.is_some() {
            self.usage = Some(summary.usage);
            self.granted = summary.granted;
            self.tool_calls = Some(summary.tool_calls);
        }
        self.questions = summary.questions.all().to_vec();
    }

    /// Returns the questions for which the run waits.
    pub fn open_questions(&self) -> impl Iterator<Item = &AskedQuestion> {
        self.questions.iter().filter(|asked| asked.is_open())
    }

    /// Takes the facts in the events of a run that goes on. A run whose end is known keeps its
    /// facts, and a run whose end is only in the events goes on here: its record has the end last.
    pub fn take_progress(&mut self, summary: &RunSummary) {
        if self.is_over() {
            return;
        }
        self.status = match summary.started_at {
            Some(_) if summary.questions.is_waiting() => Status::Waiting,
            Some(_) => Status::Running,
            None => Status::Queued,
        };
        self.take_figures(summary);
        if summary.started_at.is_some() {
            self.receipt = summary.receipt().map(Box::new);
        }
    }
}

impl RunSummary {
    /// Returns the report of the run, as far as it has come; `None` before its task was accepted.
    pub fn report(&self) -> Option<RunReport> {
        let task = self.task.as_ref()?;
        let mut report = RunReport::of_task(task, self.accepted_at.unwrap_or_default());
        report.take_figures(self);
        report.status = self.status();
        report.runner = self.runner.map(Runner::as_str).map(str::to_owned);
        report.ended_at = self.ended_at;
        if let Some(ending) = &self.ending {
            report.take_ending(ending.clone());
            report.usage = Some(self.usage);
            report.tool_calls = Some(self.tool_calls);
        }
        report.output = self.output().map(str::to_owned);
        report.no_text = self.has_no_text();
        report.structured.clone_from(&self.structured);
        report.rejected = self.rejected.clone().map(Box::new);
        report.stop_reason.clone_from(&self.stop_reason);
        report.receipt = self.receipt().map(Box::new);
        report.warnings.clone_from(&self.warnings);
        Some(report)
    }
}
