//! A task for a sub-agent.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A task for one sub-agent. `T` is what it returns: text, unless [`Task::returns`] says otherwise.
#[derive(Debug)]
pub struct Task<T = String> {
    pub(crate) fields: Map<String, Value>,
    pub(crate) flags: Vec<String>,
    pub(crate) is_typed: bool,
    returned: PhantomData<fn() -> T>,
}

impl Task<String> {
    /// Makes a task.
    pub fn new(prompt: impl Into<String>) -> Self {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!("task"));
        fields.insert("prompt".to_owned(), json!(prompt.into()));
        Self {
            fields,
            flags: Vec::new(),
            is_typed: false,
            returned: PhantomData,
        }
    }
}

impl<T> Task<T> {
    /// Sets its name, which lists and events show.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.field("name", json!(name.into()))
    }

    /// Sets the agent that does it: one of the user's, or one of [`crate::Client::agent`].
    pub fn agent(self, name: impl Into<String>) -> Self {
        self.field("profile", json!(name.into()))
    }

    /// Sets the model that answers.
    pub fn model(self, model: impl Into<String>) -> Self {
        self.flag("--model", model)
    }

    /// Sets how the sub-agent runs: `auto`, `pi`, `embedded`, `claude` and so on.
    pub fn runner(self, runner: impl Into<String>) -> Self {
        self.flag("--runner", runner)
    }

    /// Sets the only tools that it has.
    pub fn tools<S: AsRef<str>>(self, tools: impl IntoIterator<Item = S>) -> Self {
        let tools: Vec<String> = tools
            .into_iter()
            .map(|tool| tool.as_ref().to_owned())
            .collect();
        self.flag("--tools", tools.join(","))
    }

    /// Sets the directory in which it works; an absolute path.
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        self.field("cwd", json!(directory.into()))
    }

    /// Puts a file before the prompt.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        let files = self.fields.entry("files").or_insert_with(|| json!([]));
        if let Value::Array(files) = files {
            files.push(json!(path.into()));
        }
        self
    }

    /// Sets its time limit. There is one of ten minutes if none is set.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.field("timeout", json!(timeout.as_secs_f64()))
    }

    /// Sets its cost limit in dollars.
    pub fn max_cost(self, dollars: f64) -> Self {
        self.flag("--max-cost", dollars.to_string())
    }

    /// Sets the number of answers that its model may give.
    pub fn max_turns(self, turns: u32) -> Self {
        self.field("maxTurns", json!(turns))
    }

    /// Lets it work in a git worktree of its own.
    pub fn in_worktree(self) -> Self {
        self.field("isolation", json!("worktree"))
    }

    /// Sets how much it may write: `read-only` or `workspace-write`.
    pub fn sandbox(self, level: impl Into<String>) -> Self {
        self.field("sandbox", json!(level.into()))
    }

    /// Goes on with the session of an earlier run.
    pub fn resume(self, session: impl Into<String>) -> Self {
        self.field("resume", json!(session.into()))
    }

    /// Sets any field of a task by its key.
    pub fn field(mut self, key: impl Into<String>, value: Value) -> Self {
        self.fields.insert(key.into(), value);
        self
    }

    /// Sets a flag of the command `delegate`.
    pub fn flag(mut self, flag: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.extend([flag.into(), value.into()]);
        self
    }

    /// Lets it return a type of yours: its sub-agent answers with data that meet the schema of the
    /// type, and is asked again until it does.
    pub fn returns<U: JsonSchema + DeserializeOwned>(mut self) -> Task<U> {
        let schema = schemars::schema_for!(U).to_value();
        self.fields.insert("outputSchema".to_owned(), schema);
        Task {
            fields: self.fields,
            flags: self.flags,
            is_typed: true,
            returned: PhantomData,
        }
    }
}
