//! A call of the subagent family: its tasks, as models, people and programs write them.

use pi_subagents_configuration::DEFAULT_AGENT;
use pi_subagents_vocabulary::BudgetLimits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::arguments::{self, CallError};
use crate::request::{
    AGENT, BUDGET, CWD, Described, FormField, MODEL, Need, PROMPT, SESSION, TIMEOUT, TaskFields,
    TaskForm, TaskRequest, Word, budget_of, budget_schema,
};

/// A call that fits.
#[derive(Debug, Clone)]
pub struct SubagentCall {
    tasks: Vec<TaskRequest>,
    /// True if the tasks stand in a list.
    is_list: bool,
    /// The limits of all tasks together.
    pub(crate) budget: BudgetLimits,
}

/// The arguments of `subagent` beside the fields of one task.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SeveralArguments {
    #[serde(default, deserialize_with = "given_list")]
    tasks: Option<Vec<TaskFields>>,
    #[serde(default)]
    chain: Option<Value>,
}

static FORM: TaskForm = TaskForm {
    own: &[
        FormField {
            field: &AGENT,
            words: &[
                Word {
                    name: "preset",
                    about: "The preset or other agent that does the task; `default`, a plain sub-agent, unless given.",
                },
                Word {
                    name: "agent",
                    about: "Alias of preset.",
                },
            ],
            need: Need::Optional,
        },
        FormField {
            field: &PROMPT,
            words: &[Word {
                name: "task",
                about: "What the sub-agent is to do. It sees nothing else of this conversation.",
            }],
            need: Need::Meant,
        },
        FormField {
            field: &MODEL,
            words: &[Word {
                name: "model",
                about: "The model that answers, instead of the preset's own.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &CWD,
            words: &[Word {
                name: "cwd",
                about: "Working directory of the sub-agent: an absolute path without `..` segments.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &SESSION,
            words: &[Word {
                name: "sessionId",
                about: "Session id of an earlier call, to continue with everything said in it.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &TIMEOUT,
            words: &[Word {
                name: "timeout",
                about: "Seconds the sub-agent may take; there is no limit unless it is given.",
            }],
            need: Need::Optional,
        },
    ],
};

/// Returns the schema of the arguments of a tool that takes one task.
pub fn task_parameters() -> Value {
    // A model that has this tool has `subagent` too, which describes the terms.
    let mut schema = FORM.schema(Described::Own);
    schema["properties"][BUDGET] = budget_schema();
    schema
}

/// Returns the schema of the arguments of `subagent`: one task, or `tasks`.
pub(super) fn subagent_parameters() -> Value {
    let mut schema = FORM.schema(Described::Everything);
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("required");
    }
    schema["properties"]["tasks"] = json!({
        "type": "array",
        "description": "1 to 16 tasks to run in parallel, each with its own fields and preset, instead of the other fields.",
        // The fields are described once, for the single task.
        "items": FORM.schema(Described::Nothing),
        "maxItems": 16,
    });
    schema["properties"][BUDGET] = budget_schema();
    schema
}

impl SubagentCall {
    /// Reads the tool's JSON.
    pub fn parse(value: &Value) -> Result<Self, CallError> {
        let SeveralArguments { tasks, chain } = arguments::read(value)?;
        if chain.is_some_and(|chain| !chain.is_null()) {
            return Err(CallError(NO_CHAIN.to_owned()));
        }
        let budget = budget_of(value)?;
        let single = FORM.read(&arguments::read(value)?, "")?;
        let Some(tasks) = tasks else {
            return Ok(Self::of(named(single.checked()?)).with_budget(budget));
        };
        match (single.first_given(), tasks.len()) {
            (Some(_), 0) => Ok(Self::of(named(single.checked()?)).with_budget(budget)),
            (Some(field), _) => Err(CallError(format!(
                "{field} stands beside tasks; give either one task (preset and task) or tasks, each with its own fields"
            ))),
            (None, count) => {
                arguments::check_count(count, arguments::MOST_TASKS)?;
                let tasks = tasks.iter().enumerate().map(|(index, task)| {
                    let place = arguments::place_of_task(value, index);
                    FORM.read(task, &place)?.checked().map(named)
                });
                Ok(Self {
                    tasks: tasks.collect::<Result<_, _>>()?,
                    is_list: true,
                    budget,
                })
            }
        }
    }

    /// Reads the arguments of a tool that takes one task.
    pub(crate) fn parse_one(value: &Value) -> Result<TaskRequest, CallError> {
        FORM.read(&arguments::read(value)?, "")?
            .checked()
            .map(named)
    }

    /// Makes a call of one task.
    pub fn of(task: TaskRequest) -> Self {
        Self {
            tasks: vec![task],
            is_list: false,
            budget: BudgetLimits::default(),
        }
    }

    /// Returns the call with limits for all its tasks together.
    pub(crate) fn with_budget(self, budget: BudgetLimits) -> Self {
        Self { budget, ..self }
    }

    /// Returns the call with other tasks.
    pub(super) fn of_tasks(&self, tasks: Vec<TaskRequest>) -> Self {
        Self {
            tasks,
            is_list: self.is_list,
            budget: self.budget,
        }
    }

    /// Returns its tasks, in their order.
    pub(crate) fn tasks(&self) -> &[TaskRequest] {
        &self.tasks
    }

    /// Returns its tasks if they stand in a list, side by side.
    pub(crate) fn list(&self) -> Option<&[TaskRequest]> {
        self.is_list.then_some(self.tasks.as_slice())
    }
}

/// Names the definition of a task that names none.
fn named(mut task: TaskRequest) -> TaskRequest {
    task.agent.get_or_insert_with(|| DEFAULT_AGENT.to_owned());
    task
}

const NO_CHAIN: &str = "chain is not supported: call delegate_to_subagents with \"needs\": [\"NAME\"] in each step that needs the result of another; steps that need nothing from each other go into tasks";

fn given_list<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    arguments::list(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pi_subagents_vocabulary::SessionId;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::request::Continues;

    fn task(agent: &str, task: &str) -> TaskRequest {
        TaskRequest::new("", task).agent(agent)
    }

    #[test]
    fn a_call_has_one_task_or_several() {
        let parse = |call: Value| format!("{:?}", SubagentCall::parse(&call).unwrap());
        let single = |task: TaskRequest| format!("{:?}", SubagentCall::of(task));
        let parallel = |tasks: Vec<TaskRequest>| {
            let call = SubagentCall {
                tasks,
                is_list: true,
                budget: BudgetLimits::default(),
            };
            format!("{call:?}")
        };
        let one = single(task("scout", "look"));
        assert_eq!(parse(json!({"preset": "scout", "task": "look"})), one);
        assert_eq!(parse(json!({"agent": "scout", "task": "look"})), one);
        let plain = task("default", "look");
        assert_eq!(parse(json!({"task": "look"})), single(plain.clone()));
        // Some models write a list as a text.
        let as_text = json!({"tasks": "[{\"task\": \"look\", \"timeout\": 0}]"});
        assert_eq!(parse(as_text), parallel(vec![plain]));
        let full = json!({
            "preset": "scout", "agent": "scout", "task": "look", "model": "m", "cwd": "/w",
            "sessionId": "a-B_9", "timeout": "5"
        });
        let mut expected = task("scout", "look")
            .cwd("/w")
            .timeout(Duration::from_secs(5))
            .continues(Continues::Session(SessionId::parse("a-B_9").unwrap()));
        expected.terms.model = Some("m".to_owned());
        assert_eq!(parse(full), single(expected));
        let several = json!({"tasks": [
            {"preset": "scout", "task": "look"}, {"agent": "judge", "task": "weigh"}
        ]});
        assert_eq!(
            parse(several),
            parallel(vec![task("scout", "look"), task("judge", "weigh")])
        );
        // Models fill in fields that they do not mean.
        let filled = json!({"preset": "scout", "agent": "", "task": "look", "model": "", "cwd": "", "sessionId": "", "timeout": "", "gate": [], "outputSchema": "", "tasks": []});
        assert_eq!(parse(filled), one);
        let filled =
            json!({"preset": "", "task": null, "tasks": {"agent": "scout", "task": "look"}});
        assert_eq!(parse(filled), parallel(vec![task("scout", "look")]));
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
            error(with("agent", json!("judge"))),
            error(with("tasks", json!([one]))),
            error(json!({"model": "m", "tasks": [one]})),
            error(json!({"base": "", "gate": "true", "outputSchema": {}, "tasks": [one]})),
            error(json!({"outputSchema": false, "tasks": [one]})),
            error(json!({"tasks": []})),
            error(json!({"tasks": vec![one.clone(); 1001]})),
            error(json!({"tasks": [one, {"preset": "scout"}]})),
            error(json!({"tasks": [one, with("agent", json!("judge"))]})),
            error(json!({"tasks": [with("timeout", json!(0.5))]})),
            error(with("chain", json!([one]))),
            error(with("sessionId", json!("../x"))),
            error(with("sessionId", json!("x".repeat(65)))),
            error(with("timeout", json!("soon"))),
            error(with("cwd", json!({}))),
        ];
        insta::assert_snapshot!(errors.join("\n"), @r#"
        the call must be an object, not string "scout"
        task is missing
        task is missing
        preset and agent name the same thing, but differ: "scout" and "judge"
        preset stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        model stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        gate stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        outputSchema stands beside tasks; give either one task (preset and task) or tasks, each with its own fields
        tasks must have at least 1 task
        tasks must have at most 1000 tasks, not 1001
        tasks[1].task is missing
        tasks[1].preset and tasks[1].agent name the same thing, but differ: "scout" and "judge"
        tasks[0].timeout must be at least 1
        chain is not supported: call delegate_to_subagents with "needs": ["NAME"] in each step that needs the result of another; steps that need nothing from each other go into tasks
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
            "sandbox",
            "network",
            "gate",
            "maxTurns",
            "wrapUp",
            "fallbackModels",
            "outputSchema",
        ];
        let tasks = &schema["properties"]["tasks"];
        assert_eq!(fields(&tasks["items"]), of_task);
        assert_eq!(
            fields(&schema),
            [&of_task[..], &["tasks", "budget"]].concat()
        );
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
