//! The arguments of the delegation family. Models read the doc comments.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::attachments::FileSpec;
use super::task::{DelegateCall, Resume, TaskCall};
use crate::arguments::{self, CallError};
use crate::task_terms::TaskTerms;

/// Arguments of `delegate_to_subagents`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub(super) struct DelegateArguments {
    /// 1 to 16 tasks to run in parallel, each in an isolated sub-agent.
    #[serde(deserialize_with = "arguments::list")]
    #[schemars(length(min = 1, max = 16))]
    tasks: Vec<TaskArguments>,
    /// Default profile for all tasks; a task's own profile overrides it.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    profile: Option<String>,
}

/// One task of a call.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct TaskArguments {
    /// Display name of this sub-agent's window.
    #[serde(deserialize_with = "arguments::any_text")]
    name: String,
    /// The task for the sub-agent. It sees nothing else of this conversation.
    #[serde(deserialize_with = "arguments::text")]
    prompt: String,
    /// Working directory of the sub-agent: an absolute path without `..` segments.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    cwd: Option<String>,
    /// Named profile for this task; overrides the call's profile.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    profile: Option<String>,
    /// Seconds the sub-agent may take (default 600); it goes on while its tools are at work.
    #[serde(default, deserialize_with = "arguments::optional_number")]
    #[schemars(range(min = 1))]
    timeout: Option<f64>,
    /// Session id of an earlier sub-agent to continue; its transcript is put before the prompt.
    #[serde(default, deserialize_with = "arguments::optional_text")]
    resume: Option<String>,
    /// Files to put before the prompt: paths, relative to the task's cwd or absolute, or some lines of a file.
    #[serde(default, deserialize_with = "arguments::list")]
    files: Vec<FileSpec>,
    #[serde(flatten)]
    terms: TaskTerms,
}

impl DelegateCall {
    /// Reads the tool's JSON.
    pub fn parse(value: &Value) -> Result<Self, CallError> {
        let DelegateArguments { tasks, profile } = arguments::read(value)?;
        let tasks = tasks.into_iter().map(TaskArguments::into_task).collect();
        Self { tasks, profile }.checked()
    }
}

impl TaskArguments {
    fn into_task(self) -> TaskCall {
        TaskCall {
            name: self.name,
            prompt: self.prompt,
            cwd: self.cwd.map(PathBuf::from),
            profile: self.profile,
            timeout: self
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            resume: self.resume.map(Resume::Named),
            files: self.files,
            terms: self.terms,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn error(call: &Value) -> String {
        DelegateCall::parse(call).unwrap_err().to_string()
    }

    #[test]
    fn a_call_is_read_as_leniently_as_pi_reads_it() {
        let call = json!({"tasks": {
            "name": 7, "prompt": "do it", "timeout": "5", "cwd": null, "files": "x.txt"
        }});
        let expected = TaskCall {
            name: "7".to_owned(),
            prompt: "do it".to_owned(),
            timeout: Some(Duration::from_secs(5)),
            files: vec![FileSpec::Path("x.txt".into())],
            ..TaskCall::default()
        };
        let tasks = DelegateCall::parse(&call).unwrap().tasks;
        assert_eq!(format!("{tasks:?}"), format!("{:?}", [expected]));
    }

    #[test]
    fn what_a_model_fills_in_without_meaning_it_counts_as_left_out() {
        let filled = json!({"profile": "", "tasks": [
            {"name": "a", "prompt": "p", "profile": "", "resume": " ", "cwd": "", "timeout": "", "files": ""},
            {"name": "", "prompt": "p", "files": [""]},
            {"name": null, "prompt": "p", "files": []},
        ]});
        let plain = |name: &str| TaskCall {
            name: name.to_owned(),
            prompt: "p".to_owned(),
            ..TaskCall::default()
        };
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
        let many = json!({"tasks": vec![json!({"name": "a", "prompt": "p"}); 17]});
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
            error(&task(json!({"timeout": 0}))),
            error(&task(json!({"timeout": "soon"}))),
            error(&task(json!({"files": [{"path": "x", "head": 0}]}))),
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
                "tasks must have at most 16 tasks, not 17",
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
