//! What a caller of the subagent family writes. The doc comments are what a model reads.

use std::time::Duration;

use pi_subagents_delegation::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::dialects::arguments::{self, CallError};
use crate::dialects::tool::parameters;

/// How many tasks one call may have.
const MAX_TASKS: usize = 16;

/// What `subagent` takes beside the fields of one task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
struct SeveralArguments {
    /// 1 to 16 tasks to run in parallel, instead of the other fields. Each names its own preset.
    #[serde(default, deserialize_with = "given_list")]
    #[schemars(with = "Vec<TaskArguments>", length(min = 1, max = 16))]
    tasks: Option<Vec<TaskArguments>>,
    #[serde(default)]
    #[schemars(skip)]
    chain: Option<Value>,
}

/// One task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct TaskArguments {
    /// The named sub-agent that does the task: a preset, or any other definition.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    preset: Option<String>,
    /// Another word for preset.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    agent: Option<String>,
    /// What the sub-agent is to do. It sees nothing else of this conversation.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    task: Option<String>,
    /// The model that answers, instead of the preset's own.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    model: Option<String>,
    /// Working directory of the sub-agent: an absolute path without `..` segments.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    cwd: Option<String>,
    /// Session id of an earlier call to continue, with everything said in it; left out, a new session begins.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    session_id: Option<String>,
    /// Seconds the sub-agent may take; there is no limit unless it is given.
    #[serde(default, deserialize_with = "arguments::optional_number")]
    #[schemars(range(min = 1))]
    timeout: Option<f64>,
}

/// The schema of the arguments of a tool that takes one task.
pub(crate) fn task_parameters() -> Value {
    let mut schema = parameters::<TaskArguments>();
    schema["required"] = json!(["preset", "task"]);
    schema
}

/// The schema of the arguments of `subagent`: one task, or `tasks`.
pub(super) fn subagent_parameters() -> Value {
    let mut schema = parameters::<TaskArguments>();
    let mut tasks = parameters::<SeveralArguments>()["properties"]["tasks"].take();
    tasks["items"]["required"] = json!(["task"]);
    schema["properties"]["tasks"] = tasks;
    schema
}

/// A call that fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SubagentCall {
    /// One task.
    Single(AgentTask),
    /// Several, side by side.
    Parallel(Vec<AgentTask>),
}

/// A task that fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentTask {
    /// The definition that does it.
    pub(crate) agent: String,
    pub(crate) task: String,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<String>,
    /// The session it continues.
    pub(crate) session: Option<SessionId>,
    pub(crate) timeout: Option<Duration>,
}

impl SubagentCall {
    /// Reads the tool's JSON.
    pub(crate) fn parse(value: &Value) -> Result<Self, CallError> {
        let SeveralArguments { tasks, chain } = arguments::read(value)?;
        if chain.is_some_and(|chain| !chain.is_null()) {
            return Err(CallError(NO_CHAIN.to_owned()));
        }
        let single: TaskArguments = arguments::read(value)?;
        let Some(tasks) = tasks else {
            return Ok(Self::Single(single.checked("")?));
        };
        match (single.first_given(), tasks.len()) {
            (None, 0) => Err(CallError("tasks must have at least 1 task".to_owned())),
            (Some(_), 0) => Ok(Self::Single(single.checked("")?)),
            (Some(field), _) => Err(CallError(format!(
                "{field} stands beside tasks; give either one task (preset and task) or tasks, each with its own fields"
            ))),
            (None, 1..=MAX_TASKS) => {
                let tasks = tasks.into_iter().enumerate();
                let tasks = tasks.map(|(index, task)| task.checked(&format!("tasks[{index}].")));
                Ok(Self::Parallel(tasks.collect::<Result<_, _>>()?))
            }
            (None, many) => Err(CallError(format!(
                "tasks must have at most {MAX_TASKS} tasks, not {many}"
            ))),
        }
    }

    /// Its tasks, in their order.
    pub(crate) fn tasks(&self) -> &[AgentTask] {
        match self {
            Self::Single(task) => std::slice::from_ref(task),
            Self::Parallel(tasks) => tasks,
        }
    }
}

impl AgentTask {
    /// Reads the arguments of a tool that takes one task.
    pub(crate) fn parse(value: &Value) -> Result<Self, CallError> {
        arguments::read::<TaskArguments>(value)?.checked("")
    }
}

const NO_CHAIN: &str = "chain is not supported: call subagent once per step and put what one step found into the task of the next; steps that need nothing from each other go into tasks";

impl TaskArguments {
    /// The first field that says something.
    fn first_given(&self) -> Option<&'static str> {
        let texts = [
            ("preset", &self.preset),
            ("agent", &self.agent),
            ("task", &self.task),
            ("model", &self.model),
            ("cwd", &self.cwd),
            ("sessionId", &self.session_id),
        ];
        let given = texts
            .into_iter()
            .find(|(_, text)| said(text.as_deref()).is_some());
        given
            .map(|(field, _)| field)
            .or(self.timeout.map(|_| "timeout"))
    }

    /// `path` leads to the task, for errors.
    fn checked(self, path: &str) -> Result<AgentTask, CallError> {
        let missing = |field: &str| CallError(format!("{path}{field} is missing"));
        let agent = match (said(self.preset.as_deref()), said(self.agent.as_deref())) {
            (Some(preset), Some(agent)) if preset != agent => {
                return Err(CallError(format!(
                    "{path}preset and {path}agent name the same thing, but differ: \"{preset}\" and \"{agent}\""
                )));
            }
            (Some(name), _) | (None, Some(name)) => name.to_owned(),
            (None, None) => return Err(missing("preset")),
        };
        let task = said(self.task.as_deref()).ok_or_else(|| missing("task"))?;
        let session = self.session_id.as_deref().map(SessionId::parse).transpose();
        Ok(AgentTask {
            agent,
            task: task.to_owned(),
            model: said(self.model.as_deref()).map(str::to_owned),
            cwd: said(self.cwd.as_deref()).map(str::to_owned),
            session: session
                .map_err(|error| CallError(format!("{path}sessionId cannot be used: {error}")))?,
            timeout: self
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        })
    }
}

/// A text that says something; models fill what they leave out with empty ones.
fn said(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

fn given_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    arguments::list(deserializer).map(Some)
}
