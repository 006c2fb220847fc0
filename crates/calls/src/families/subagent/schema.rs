//! The arguments of the subagent family. Models read the doc comments.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_vocabulary::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::arguments::{self, CallError};
use crate::open_run::Inherited;
use crate::task_terms::{TERMS, TaskTerms};
use crate::tool::parameters;

/// The arguments of `subagent` beside the fields of one task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
struct SeveralArguments {
    /// 1 to 16 tasks to run in parallel, each with fields and a preset of its own, instead of the other fields.
    #[serde(default, deserialize_with = "given_list")]
    #[schemars(with = "Vec<TaskArguments>", length(max = 16))]
    tasks: Option<Vec<TaskArguments>>,
    #[serde(default)]
    #[schemars(skip)]
    chain: Option<Value>,
}

/// One task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct TaskArguments {
    /// The preset or other definition that does the task, or `default` for a plain sub-agent.
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
    /// Session id of an earlier call, to continue with everything said in it.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{0,64}$"))]
    session_id: Option<String>,
    /// Seconds the sub-agent may take; there is no limit unless it is given.
    #[serde(default, deserialize_with = "arguments::optional_number")]
    #[schemars(range(min = 1))]
    timeout: Option<f64>,
    #[serde(flatten)]
    terms: TaskTerms,
}

/// Returns the schema of the arguments of a tool that takes one task.
pub fn task_parameters() -> Value {
    let mut schema = parameters::<TaskArguments>();
    // Either of two fields names the definition that does the task.
    schema["required"] = json!(["task"]);
    // A model that has this tool has `subagent` too, which describes these fields.
    for field in TERMS {
        without_description(&mut schema["properties"][field]);
    }
    schema
}

fn without_description(field: &mut Value) {
    if let Some(field) = field.as_object_mut() {
        field.remove("description");
    }
}

/// Returns the schema of the arguments of `subagent`: one task, or `tasks`.
pub(super) fn subagent_parameters() -> Value {
    let mut schema = parameters::<TaskArguments>();
    let mut tasks = parameters::<SeveralArguments>()["properties"]["tasks"].take();
    tasks["items"]["required"] = json!(["task"]);
    // The fields are described once, for the single task.
    let fields = tasks["items"]["properties"].as_object_mut();
    fields
        .into_iter()
        .flat_map(Map::values_mut)
        .for_each(without_description);
    schema["properties"]["tasks"] = tasks;
    schema
}

/// A call that fits.
#[derive(Debug, Clone, PartialEq)]
pub enum SubagentCall {
    /// One task.
    Single(Box<AgentTask>),
    /// Several, side by side.
    Parallel(Vec<AgentTask>),
}

/// A task that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTask {
    /// The definition that does it.
    pub agent: String,
    pub task: String,
    pub model: Option<String>,
    pub cwd: Option<PathBuf>,
    /// The session it continues.
    pub session: Option<SessionId>,
    /// The terms of the latest run of that session, if the caller has read them already.
    pub earlier: Option<Inherited>,
    pub timeout: Option<Duration>,
    pub terms: TaskTerms,
}

impl SubagentCall {
    /// Reads the tool's JSON.
    pub fn parse(value: &Value) -> Result<Self, CallError> {
        let SeveralArguments { tasks, chain } = arguments::read(value)?;
        if chain.is_some_and(|chain| !chain.is_null()) {
            return Err(CallError(NO_CHAIN.to_owned()));
        }
        let single: TaskArguments = arguments::read(value)?;
        let Some(tasks) = tasks else {
            return Ok(Self::Single(Box::new(single.checked("")?)));
        };
        match (single.first_given(), tasks.len()) {
            (Some(_), 0) => Ok(Self::Single(Box::new(single.checked("")?))),
            (Some(field), _) => Err(CallError(format!(
                "{field} stands beside tasks; give either one task (preset and task) or tasks, each with its own fields"
            ))),
            (None, count) => {
                arguments::check_count(count)?;
                let tasks = tasks.into_iter().enumerate();
                let tasks = tasks.map(|(index, task)| task.checked(&format!("tasks[{index}].")));
                Ok(Self::Parallel(tasks.collect::<Result<_, _>>()?))
            }
        }
    }

    /// Returns its tasks, in their order.
    pub(crate) fn tasks(&self) -> &[AgentTask] {
        match self {
            Self::Single(task) => std::slice::from_ref(task.as_ref()),
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
    /// Returns the first field that is given.
    fn first_given(&self) -> Option<&'static str> {
        let texts = [
            ("preset", &self.preset),
            ("agent", &self.agent),
            ("task", &self.task),
            ("model", &self.model),
            ("cwd", &self.cwd),
            ("sessionId", &self.session_id),
        ];
        let given = texts.into_iter().find(|(_, text)| text.is_some());
        given
            .map(|(field, _)| field)
            .or(self.timeout.map(|_| "timeout"))
            .or_else(|| self.terms.first_given())
    }

    /// Checks the fields that belong together; `path` leads to the task, for errors.
    fn checked(self, path: &str) -> Result<AgentTask, CallError> {
        let missing = |field: &str| CallError(format!("{path}{field} is missing"));
        let agent = match (self.preset, self.agent) {
            (Some(preset), Some(agent)) if preset != agent => {
                return Err(CallError(format!(
                    "{path}preset and {path}agent name the same thing, but differ: \"{preset}\" and \"{agent}\""
                )));
            }
            (Some(name), _) | (None, Some(name)) => name,
            (None, None) => return Err(missing("preset")),
        };
        let task = self.task.ok_or_else(|| missing("task"))?;
        let session = self.session_id.as_deref().map(SessionId::parse).transpose();
        Ok(AgentTask {
            agent,
            task,
            model: self.model,
            cwd: self.cwd.map(PathBuf::from),
            session: session
                .map_err(|error| CallError(format!("{path}sessionId cannot be used: {error}")))?,
            earlier: None,
            timeout: self
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            terms: self.terms,
        })
    }
}

fn given_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    arguments::list(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn task(agent: &str, task: &str) -> AgentTask {
        AgentTask {
            agent: agent.to_owned(),
            task: task.to_owned(),
            model: None,
            cwd: None,
            session: None,
            earlier: None,
            timeout: None,
            terms: TaskTerms::default(),
        }
    }

    #[test]
    fn a_call_has_one_task_or_several() {
        let parse = |call: Value| SubagentCall::parse(&call).unwrap();
        let one = SubagentCall::Single(Box::new(task("scout", "look")));
        assert_eq!(parse(json!({"preset": "scout", "task": "look"})), one);
        assert_eq!(parse(json!({"agent": "scout", "task": "look"})), one);
        let full = json!({
            "preset": "scout", "agent": "scout", "task": "look", "model": "m", "cwd": "/w",
            "sessionId": "a-B_9", "timeout": "5"
        });
        assert_eq!(
            parse(full),
            SubagentCall::Single(Box::new(AgentTask {
                model: Some("m".to_owned()),
                cwd: Some("/w".into()),
                session: Some(SessionId::parse("a-B_9").unwrap()),
                timeout: Some(Duration::from_secs(5)),
                ..task("scout", "look")
            }))
        );
        let several = json!({"tasks": [
            {"preset": "scout", "task": "look"}, {"agent": "judge", "task": "weigh"}
        ]});
        assert_eq!(
            parse(several),
            SubagentCall::Parallel(vec![task("scout", "look"), task("judge", "weigh")])
        );
        // Models fill in fields that they do not mean.
        let filled = json!({"preset": "scout", "agent": "", "task": "look", "model": "", "cwd": "", "sessionId": "", "timeout": "", "tasks": []});
        assert_eq!(parse(filled), one);
        let filled =
            json!({"preset": "", "task": null, "tasks": {"agent": "scout", "task": "look"}});
        assert_eq!(
            parse(filled),
            SubagentCall::Parallel(vec![task("scout", "look")])
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_by_the_name_of_its_field() {
        let error = |call: Value| SubagentCall::parse(&call).unwrap_err().to_string();
        let one = json!({"preset": "scout", "task": "look"});
        let with = |field: &str, value: Value| {
            let mut call = one.clone();
            call[field] = value;
            call
        };
        let errors = [
            error(json!("scout")),
            error(json!({})),
            error(json!({"preset": "scout"})),
            error(json!({"task": "look"})),
            error(with("agent", json!("judge"))),
            error(with("tasks", json!([one]))),
            error(json!({"model": "m", "tasks": [one]})),
            error(json!({"tasks": []})),
            error(json!({"tasks": vec![one.clone(); 17]})),
            error(json!({"tasks": [one, {"task": "look"}]})),
            error(json!({"tasks": [one, with("agent", json!("judge"))]})),
            error(json!({"tasks": [with("timeout", json!(0))]})),
            error(with("chain", json!([one]))),
            error(with("sessionId", json!("../x"))),
            error(with("sessionId", json!("x".repeat(65)))),
            error(with("timeout", json!("soon"))),
            error(with("cwd", json!({}))),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r#"
        the call must be an object, not string "scout"
        preset is missing
        task is missing
        preset is missing
        preset and agent name the same thing, but differ: "scout" and "judge"
        preset stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        model stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        tasks must have at least 1 task
        tasks must have at most 16 tasks, not 17
        tasks[1].preset is missing
        tasks[1].preset and tasks[1].agent name the same thing, but differ: "scout" and "judge"
        tasks[0].timeout must be at least 1
        chain is not supported: call subagent once per step and put what one step found into the task of the next; steps that need nothing from each other go into tasks
        sessionId cannot be used: "../x" is not an id: it must have 1 to 64 letters, digits, "_" or "-"
        sessionId cannot be used: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not an id: it must have 1 to 64 letters, digits, "_" or "-"
        timeout must be a number, not "soon"
        cwd must be a text, not {}
        "#);
    }

    #[test]
    fn the_schema_knows_both_forms_and_no_chain() {
        let schema = subagent_parameters();
        let fields = |schema: &Value| -> Vec<String> {
            schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        let of_task = [
            "preset",
            "agent",
            "task",
            "model",
            "cwd",
            "sessionId",
            "timeout",
            "isolation",
            "base",
            "gate",
            "outputSchema",
        ];
        let tasks = &schema["properties"]["tasks"];
        assert_eq!(fields(&tasks["items"]), of_task);
        assert_eq!(fields(&schema), [&of_task[..], &["tasks"]].concat());
        assert_eq!(tasks["items"]["required"], json!(["task"]));
        // Models fill in an empty list beside one task.
        assert_eq!(
            (&tasks["minItems"], &tasks["maxItems"]),
            (&Value::Null, &json!(16))
        );
        let text = schema.to_string();
        for unwanted in ["null", "$ref", "\"format\"", "chain"] {
            assert!(!text.contains(unwanted), "{unwanted} in {text}");
        }
    }
}
