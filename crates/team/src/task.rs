//! A task that a program gives to a team.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_vocabulary::{Gate, Isolation, SessionId};
use serde_json::Value;

use pi_subagents_calls::families::delegation::{FileSpec, Resume, TaskCall};
use pi_subagents_calls::{SchemaWish, TaskTerms};

/// A task for one sub-agent.
///
/// ```
/// use std::time::Duration;
///
/// use pi_subagents::Task;
///
/// let task = Task::new("review", "Look for what could break.")
///     .profile("reviewer")
///     .file("src/main.rs")
///     .timeout(Duration::from_mins(5));
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Task {
    name: String,
    prompt: String,
    profile: Option<String>,
    cwd: Option<PathBuf>,
    timeout: Option<Duration>,
    resume: Option<SessionId>,
    files: Vec<PathBuf>,
    terms: TaskTerms,
}

impl Task {
    /// Makes a task of its name, which is shown where runs are listed, and its prompt. The
    /// sub-agent sees nothing else.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            prompt: prompt.into(),
            profile: None,
            cwd: None,
            timeout: None,
            resume: None,
            files: Vec::new(),
            terms: TaskTerms::default(),
        }
    }

    /// Names the definition that describes the sub-agent.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Sets the directory in which it works, as an absolute path; else that of the team.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Limits the time of the task. The default is the limit of its definition, else ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Gives it a git worktree of its own, which begins with the uncommitted changes of its
    /// directory. [`Team::merge`](crate::Team::merge) brings back what it changes there.
    pub fn isolated(mut self) -> Self {
        self.terms.isolation = Some(Isolation::Worktree);
        self
    }

    /// Continues an earlier session, whose transcript is put before the prompt.
    pub fn resume(mut self, session: SessionId) -> Self {
        self.resume = Some(session);
        self
    }

    /// Puts one more file before the prompt; its path is absolute, or relative to the directory of
    /// the task.
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// Adds a command that must pass before the task counts as completed; else those of its
    /// definition. A [`Gate`] has a time limit and retries of its own. It runs in the directory of the task, through `sh -c`.
    pub fn gate(mut self, gate: impl Into<Gate>) -> Self {
        self.terms.gates.push(gate.into());
        self
    }

    /// Sets the JSON schema that the result must meet; else that of its definition. The sub-agent
    /// reports data, which [`Outcome::structured`](crate::Outcome::structured) reads. A schema that
    /// cannot be used refuses the task.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.terms.output_schema = SchemaWish::Schema(schema);
        self
    }

    pub(super) fn into_call(self) -> TaskCall {
        TaskCall {
            name: self.name,
            prompt: self.prompt,
            cwd: self.cwd,
            profile: self.profile,
            timeout: self.timeout,
            resume: self
                .resume
                .map(|session| Resume::Named(session.to_string())),
            files: self.files.into_iter().map(FileSpec::Path).collect(),
            terms: self.terms,
        }
    }
}
