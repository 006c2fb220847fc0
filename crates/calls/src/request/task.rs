//! The request for one task.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{
    AfterFailure, BaseChoice, CallOfRun, CallPlace, ForEach, Gate, Isolation, NetworkReach,
    PickRule, RunTerms, SandboxLevel, SessionId, Template,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::families::delegation::FileSpec;
use crate::open_run::EarlierSession;

/// A task for one sub-agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[must_use]
pub struct TaskRequest {
    /// The name of its window; empty for a task without a name.
    pub(crate) name: String,
    pub(crate) prompt: String,
    /// The name of the agent that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The directory in which it works, as an absolute path without `..` segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// The earlier session that it goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) continues: Option<Continues>,
    /// The files that are put before the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<FileSpec>,
    /// The state that its worktree begins with. A run that continues this one has no use for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<BaseChoice>,
    #[serde(skip_serializing_if = "RunTerms::is_plain")]
    pub(crate) terms: RunTerms,
    /// The names of the tasks whose results it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<String>,
    /// What becomes of it if one of them fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after_failure: Option<AfterFailure>,
    /// The list for whose items it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) for_each: Option<ForEach>,
    /// The file whose lines are the items of that list, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) items_from: Option<PathBuf>,
    /// The number of times that it is done side by side, of which one is picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempts: Option<usize>,
    /// The models of the attempts, in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<String>,
    /// The rule by which an attempt is picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pick: Option<PickRule>,
    /// Its prompt, if values are put into it when it begins.
    #[serde(skip)]
    pub(crate) template: Option<Template>,
    /// The task in whose result its item stands, if it is done for an item of a list there.
    #[serde(skip)]
    pub(crate) item_of: Option<String>,
    /// Its call.
    #[serde(skip)]
    pub(crate) call: Option<CallOfRun>,
}

/// The earlier session that a task goes on with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Continues {
    /// A word that is still to be looked up: the id of the session or of one of its runs, or the
    /// beginning of either.
    Named(String),
    /// The session of this id, which begins if there is none.
    Session(SessionId),
    /// Found by the maker of the request, with everything that was read of it.
    Found(Arc<EarlierSession>),
}

impl From<String> for Continues {
    fn from(word: String) -> Self {
        Self::Named(word)
    }
}

/// A record has a session by its id.
impl From<Continues> for String {
    fn from(continues: Continues) -> Self {
        match continues {
            Continues::Named(word) => word,
            Continues::Session(session) => session.to_string(),
            Continues::Found(earlier) => earlier.id().to_string(),
        }
    }
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

    /// Returns the place of the task in its call.
    pub(crate) fn place(&self) -> CallPlace {
        self.call
            .as_ref()
            .map(|call| call.place)
            .unwrap_or_default()
    }

    /// Needs the result of another task of the call, by its name.
    pub fn need(mut self, task: impl Into<String>) -> Self {
        self.needs.push(task.into());
        self
    }

    /// Does it for each item of a list; `{{item}}` in its prompt stands for the item.
    pub fn for_each(mut self, each: ForEach) -> Self {
        self.for_each = Some(each);
        self
    }

    /// Does it several times side by side, each in its own worktree, and picks one by this rule.
    pub fn attempts(mut self, count: usize, pick: PickRule) -> Self {
        self.attempts = Some(count);
        self.pick = Some(pick);
        self
    }

    /// Names the models of its attempts, which take turns.
    pub fn models(mut self, models: Vec<String>) -> Self {
        self.models = models;
        self
    }

    /// Returns the prompt, without files and transcript.
    #[doc(hidden)]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}
