//! What a caller of `delegate_to_subagents` writes.

use std::time::Duration;

use serde_json::Value;

use super::attachments::FileSpec;
use crate::dialects::fields::{CallError, Fields};

/// How many tasks one call may have.
const MAX_TASKS: usize = 16;

/// A call of `delegate_to_subagents`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DelegateCall {
    pub(crate) tasks: Vec<TaskCall>,
}

/// One task of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TaskCall {
    pub(crate) name: String,
    pub(crate) prompt: String,
    pub(crate) cwd: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) resume: Option<String>,
    pub(crate) files: Vec<FileSpec>,
}

impl DelegateCall {
    /// A call with these tasks.
    pub(crate) fn new(tasks: Vec<TaskCall>) -> Result<Self, CallError> {
        match tasks.len() {
            0 => Err(CallError("tasks must have at least 1 task".to_owned())),
            1..=MAX_TASKS => Ok(Self { tasks }),
            many => Err(CallError(format!(
                "tasks must have at most {MAX_TASKS} tasks, not {many}"
            ))),
        }
    }

    /// Reads the tool's JSON.
    pub(crate) fn parse(value: &Value) -> Result<Self, CallError> {
        let fields = Fields::of(value, "")?;
        if fields.get("tasks").is_none() {
            return Err(fields.error("tasks", "is missing"));
        }
        refuse_profile(&fields)?;
        let tasks = fields
            .list("tasks")
            .into_iter()
            .enumerate()
            .map(|(index, task)| TaskCall::parse(task, &format!("tasks[{index}]")))
            .collect::<Result<_, _>>()?;
        Self::new(tasks)
    }
}

impl TaskCall {
    fn parse(value: &Value, path: &str) -> Result<Self, CallError> {
        let fields = Fields::of(value, path)?;
        refuse_profile(&fields)?;
        Ok(Self {
            name: fields.text("name")?,
            prompt: fields.text("prompt")?,
            cwd: fields.optional_text("cwd")?,
            timeout: fields
                .optional_number("timeout")?
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            resume: fields.optional_text("resume")?,
            files: fields
                .list("files")
                .into_iter()
                .enumerate()
                .map(|(index, file)| FileSpec::parse(file, &format!("{path}.files[{index}]")))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Definitions are not read yet, and a task must not run as if it had asked for none.
fn refuse_profile(fields: &Fields<'_>) -> Result<(), CallError> {
    match fields.get("profile") {
        None => Ok(()),
        Some(_) => Err(fields.error(
            "profile",
            "cannot be used yet: this version has no profiles",
        )),
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
        let call = json!({"unknown": 1, "tasks": {
            "name": "a", "prompt": "do it", "timeout": "5", "cwd": null, "files": "x.txt"
        }});
        assert_eq!(
            DelegateCall::parse(&call).unwrap().tasks,
            [TaskCall {
                name: "a".to_owned(),
                prompt: "do it".to_owned(),
                timeout: Some(Duration::from_secs(5)),
                files: vec![FileSpec::parse(&json!("x.txt"), "").unwrap()],
                ..TaskCall::default()
            }]
        );
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
            error(&json!([])),
            error(&json!({})),
            error(&json!({"tasks": []})),
            error(&many),
            error(&json!({"tasks": ["a"]})),
            error(&task(json!({"prompt": ""}))),
            error(&task(json!({"name": null}))),
            error(&task(json!({"timeout": 0}))),
            error(&task(json!({"timeout": "soon"}))),
            error(&task(json!({"files": [{"path": "x", "head": 0}]}))),
            error(&task(json!({"profile": "x"}))),
        ];
        assert_eq!(
            errors,
            [
                "the call must be an object, not []",
                "tasks is missing",
                "tasks must have at least 1 task",
                "tasks must have at most 16 tasks, not 17",
                "tasks[0] must be an object, not \"a\"",
                "tasks[0].prompt must not be empty",
                "tasks[0].name is missing",
                "tasks[0].timeout must be at least 1",
                "tasks[0].timeout must be a number, not \"soon\"",
                "tasks[0].files[0].head must be at least 1",
                "tasks[0].profile cannot be used yet: this version has no profiles",
            ]
        );
    }
}
