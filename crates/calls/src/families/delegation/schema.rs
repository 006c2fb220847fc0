//! A call of the delegation family: its tasks, as models, people and programs write them.

use pi_subagents_vocabulary::BudgetLimits;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{self, CallError};
use crate::graph::DoneTasks;
use crate::request::{
    AFTER_FAILURE, AGENT, ATTEMPTS, BUDGET, CWD, Described, FILES, FOR_EACH, FormField, MODEL,
    MODELS, NAME, NEEDS, Need, PICK, PROMPT, RESUME, TIMEOUT, TaskFields, TaskForm, TaskRequest,
    Word, budget_of, budget_schema,
};

/// A call that fits.
#[derive(Debug)]
pub struct DelegateCall {
    pub(crate) tasks: Vec<TaskRequest>,
    /// The profile of all tasks that name none themselves.
    pub profile: Option<String>,
    /// The limits of all tasks together.
    pub(crate) budget: BudgetLimits,
    /// The number of failures after which nothing more begins, if there is one.
    pub stop_after: Option<usize>,
    /// What earlier calls have done of it.
    pub(crate) done: DoneTasks,
}

/// The arguments of `delegate_to_subagents`.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct DelegateArguments {
    #[serde(deserialize_with = "arguments::list")]
    tasks: Vec<TaskFields>,
    #[serde(default, deserialize_with = "arguments::optional_text")]
    profile: Option<String>,
    #[serde(
        default,
        rename = "stopAfter",
        deserialize_with = "arguments::optional_count"
    )]
    stop_after: Option<usize>,
}

static FORM: TaskForm = TaskForm {
    own: &[
        FormField {
            field: &NAME,
            words: &[Word {
                name: "name",
                about: "Display name of this sub-agent's window.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &PROMPT,
            words: &[Word {
                name: "prompt",
                about: "The task for the sub-agent. It sees nothing else of this conversation.",
            }],
            need: Need::Filled,
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
            field: &AGENT,
            words: &[
                Word {
                    name: "profile",
                    about: "Named profile for this task; overrides the call's profile.",
                },
                // MCP clients are offered this word instead.
                Word {
                    name: "agent",
                    about: "",
                },
            ],
            need: Need::Optional,
        },
        FormField {
            field: &MODEL,
            // Only MCP clients are offered it.
            words: &[Word {
                name: "model",
                about: "",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &TIMEOUT,
            words: &[Word {
                name: "timeout",
                about: "Seconds the sub-agent may take (default 600); it continues while its tools run.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &RESUME,
            words: &[Word {
                name: "resume",
                about: "Session id of an earlier sub-agent to continue; its transcript is put before the prompt.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &NEEDS,
            words: &[Word {
                name: "needs",
                about: "Names of tasks of this call whose results it needs; it starts when all have completed. {{NAME.output}} or {{NAME.structured.KEY}} in its prompt become their values; a prompt without them begins with the results.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &AFTER_FAILURE,
            words: &[Word {
                name: "afterFailure",
                about: "\"run\": it starts also if one of its needs fails, and its prompt says so; else it is skipped.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &FOR_EACH,
            words: &[Word {
                name: "forEach",
                about: "Do it for each item: a list, {\"files\": \"src/**/*.rs\"}, {\"lines\": \"list.txt\"} or a list in a result, such as \"{{NAME.structured.KEY}}\". {{item}}, {{item.KEY}} and {{index}} stand for the item in the prompt. More than 16 items need a budget.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &ATTEMPTS,
            words: &[Word {
                name: "attempts",
                about: "The number of times to do it side by side, each in a separate worktree; one is picked.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &MODELS,
            words: &[Word {
                name: "models",
                about: "Models of the attempts, in turn.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &PICK,
            words: &[Word {
                name: "pick",
                about: "Which attempt wins: \"first\" that completes (the others are stopped), \"gate\" (default: the fewest changed lines of those that complete), or {\"judge\": PROFILE, \"rubric\": \"…\"}.",
            }],
            need: Need::Optional,
        },
        FormField {
            field: &FILES,
            words: &[Word {
                name: "files",
                about: "Files to put before the prompt: paths, relative to the task's cwd or absolute, or some lines of a file.",
            }],
            need: Need::Optional,
        },
    ],
};

/// Returns the schema of the arguments of `delegate_to_subagents`.
pub(super) fn delegate_parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tasks": {
                "type": "array",
                "description": "1 to 16 tasks to run in parallel, each in an isolated sub-agent; up to 64 if some need others.",
                "items": FORM.schema(Described::Everything),
                "minItems": 1,
                "maxItems": 64,
            },
            "profile": {
                "type": "string",
                "description": "Default profile for all tasks; a task's own profile overrides it.",
            },
            BUDGET: budget_schema(),
            "stopAfter": {
                "type": "integer",
                "minimum": 1,
                "description": "Number of failures after which no further task starts.",
            },
        },
        "required": ["tasks"],
    })
}

impl DelegateCall {
    /// Reads the tool's JSON.
    pub fn parse(value: &Value) -> Result<Self, CallError> {
        let DelegateArguments {
            tasks,
            profile,
            stop_after,
        } = arguments::read(value)?;
        let budget = budget_of(value)?;
        let tasks = tasks.iter().enumerate().map(|(index, task)| {
            let place = arguments::place_of_task(value, index);
            FORM.read(task, &place)?.checked()
        });
        let tasks = tasks.collect::<Result<_, _>>()?;
        Self {
            tasks,
            profile,
            budget,
            stop_after,
            done: DoneTasks::default(),
        }
        .checked()
    }

    /// Makes a call of these tasks. Fails if there are none, or too many.
    pub fn new(tasks: Vec<TaskRequest>) -> Result<Self, CallError> {
        Self {
            tasks,
            profile: None,
            budget: BudgetLimits::default(),
            stop_after: None,
            done: DoneTasks::default(),
        }
        .checked()
    }

    /// Makes a call of the tasks that an earlier call has left.
    pub(crate) fn of_rest(tasks: Vec<TaskRequest>, done: DoneTasks) -> Self {
        Self {
            tasks,
            profile: None,
            budget: BudgetLimits::default(),
            stop_after: None,
            done,
        }
    }

    /// Checks the number of tasks, and names those without a name.
    fn checked(mut self) -> Result<Self, CallError> {
        arguments::check_count(self.tasks.len(), arguments::MOST_TASKS)?;
        for (index, task) in self.tasks.iter_mut().enumerate() {
            if task.name.is_empty() {
                task.name = format!("task {}", index + 1);
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    fn error(call: &Value) -> String {
        DelegateCall::parse(call).unwrap_err().to_string()
    }

    #[test]
    fn a_call_is_read_as_leniently_as_pi_reads_it() {
        let call = json!({"tasks": {
            "name": 7, "prompt": "do it", "timeout": "5", "cwd": null, "files": "x.txt"
        }});
        let expected = TaskRequest::new("7", "do it")
            .timeout(Duration::from_secs(5))
            .file("x.txt");
        let tasks = DelegateCall::parse(&call).unwrap().tasks;
        assert_eq!(format!("{tasks:?}"), format!("{:?}", [expected]));
    }

    #[test]
    fn what_a_model_fills_in_without_meaning_it_counts_as_left_out() {
        let filled = json!({"profile": "", "tasks": [
            {"name": "a", "prompt": "p", "profile": "", "resume": " ", "cwd": "", "timeout": "", "files": ""},
            {"name": "", "prompt": "p", "files": [""]},
            {"name": null, "prompt": "p", "files": [], "timeout": 0},
        ]});
        let plain = |name: &str| TaskRequest::new(name, "p");
        let call = DelegateCall::parse(&filled).unwrap();
        assert_eq!(call.profile, None);
        let expected = [plain("a"), plain("task 2"), plain("task 3")];
        assert_eq!(format!("{:?}", call.tasks), format!("{expected:?}"));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_the_name_of_its_field() {
        let task = |extra: Value| {
            let mut task = json!({"name": "a", "prompt": "p"});
            task.as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            json!({"tasks": [task]})
        };
        let many = json!({"tasks": vec![json!({"name": "a", "prompt": "p"}); 1001]});
        let errors = [
            error(&json!(5)),
            error(&json!([{"name": "a", "prompt": "p"}])),
            error(&json!({})),
            error(&json!({"tasks": "a"})),
            error(&json!({"tasks": []})),
            error(&many),
            error(&json!({"tasks": ["a"]})),
            error(&json!({"tasks": [{"name": "a"}]})),
            error(&task(json!({"prompt": ""}))),
            error(&task(json!({"timeout": 0.5}))),
            error(&task(json!({"timeout": "soon"}))),
            error(&task(json!({"files": [{"path": "x", "head": -1}]}))),
            error(&task(json!({"files": [{"head": 1}]}))),
            error(&task(json!({"files": [7]}))),
            error(&task(json!({"files": [{"path": "x", "start": -1}]}))),
            error(&task(json!({"cwd": ["x"]}))),
        ];
        assert_eq!(
            errors,
            [
                "the call must be an object, not integer `5`",
                "the call must be an object, not a list",
                "tasks is missing",
                "tasks must be a list, not string \"a\"",
                "tasks must have at least 1 task",
                "tasks must have at most 1000 tasks, not 1001",
                "tasks[0] must be an object, not string \"a\"",
                "tasks[0].prompt is missing",
                "tasks[0].prompt must not be empty",
                "tasks[0].timeout must be at least 1",
                "tasks[0].timeout must be a number, not \"soon\"",
                "tasks[0].files[0].head must be at least 1",
                "tasks[0].files[0].path is missing",
                "tasks[0].files[0] must be a path or an object with a path, not integer `7`",
                "tasks[0].files[0].start must be at least 1",
                "tasks[0].cwd must be a text, not [\"x\"]",
            ]
        );
    }
}
