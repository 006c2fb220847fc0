//! The request for one task.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{
    BaseChoice, Gate, Isolation, NetworkReach, RunTerms, SandboxLevel, SessionId,
};
use serde_json::Value;

use crate::families::delegation::FileSpec;
use crate::open_run::EarlierSession;

/// A task for one sub-agent.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TaskRequest {
    /// The name of its window; empty for a task without a name.
    pub(crate) name: String,
    pub(crate) prompt: String,
    /// The name of the agent that does it.
    pub(crate) agent: Option<String>,
    /// The directory in which it works, as an absolute path without `..` segments.
    pub(crate) cwd: Option<PathBuf>,
    /// The earlier session that it goes on with.
    pub(crate) continues: Option<Continues>,
    /// The files that are put before the prompt.
    pub(crate) files: Vec<FileSpec>,
    /// The state that its worktree begins with. A run that continues this one has no use for it.
    pub(crate) base: Option<BaseChoice>,
    pub(crate) terms: RunTerms,
}

/// The earlier session that a task goes on with.
#[derive(Debug, Clone)]
pub enum Continues {
    /// A word that is still to be looked up: the id of the session or of one of its runs, or the
    /// beginning of either.
    Named(String),
    /// The session of this id, which begins if there is none.
    Session(SessionId),
    /// Found by the maker of the request, with everything that was read of it.
    Found(Arc<EarlierSession>),
}

impl TaskRequest {
    /// Makes a task of its name, which is shown where runs are listed, and its prompt. The
    /// sub-agent sees nothing else.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Names the agent that does it.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Sets the directory in which it works, as an absolute path; else that of the team.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Continues an earlier session, whose transcript is put before the prompt.
    pub fn resume(self, session: &SessionId) -> Self {
        self.continues(Continues::Named(session.to_string()))
    }

    /// Puts one more file before the prompt; its path is absolute, or relative to the directory of
    /// the task.
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(FileSpec::Path(file.into()));
        self
    }

    /// Limits the time of the task. The default is the limit of its agent, else ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = Some(timeout);
        self
    }

    /// Gives it a git worktree of its own, which begins with the uncommitted changes of its
    /// directory. `Team::merge` brings back what it changes there.
    pub fn isolated(mut self) -> Self {
        self.terms.isolation = Some(Isolation::Worktree);
        self
    }

    /// Runs it in a sandbox of this level, or in the tighter one that the user's settings or its
    /// definition demand. Its tools reach no network unless [`Self::network`] says so.
    pub fn sandbox(mut self, level: SandboxLevel) -> Self {
        self.terms.sandbox = Some(level);
        self
    }

    /// Says what the tools of its sandbox may reach.
    pub fn network(mut self, reach: NetworkReach) -> Self {
        self.terms.network = Some(reach);
        self
    }

    /// Adds a command that must pass before the task counts as completed; else those of its
    /// agent. A [`Gate`] has a time limit and retries of its own. It runs in the directory of
    /// the task, through `sh -c`.
    pub fn gate(mut self, gate: impl Into<Gate>) -> Self {
        self.terms.gates.get_or_insert_default().push(gate.into());
        self
    }

    /// Sets the JSON schema that the result must meet; else that of its agent. The sub-agent
    /// reports data, which `Outcome::structured` reads. A schema that cannot be used refuses the
    /// task.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.terms.output_schema = Some(schema);
        self
    }

    /// Goes on with an earlier session.
    #[doc(hidden)]
    pub fn continues(mut self, earlier: Continues) -> Self {
        self.continues = Some(earlier);
        self
    }

    /// Returns the name of the agent that does it, if it names one.
    #[doc(hidden)]
    pub fn agent_name(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns the prompt, without files and transcript.
    #[doc(hidden)]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}
