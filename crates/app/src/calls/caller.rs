//! The caller of a tool, as far as its door knows it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_definitions::{RunnerChoice, Skill};
use pi_subagents_delegation::{
    Allowance, BaseChoice, Gate, Isolation, Place, Priority, WorkspaceChoice,
};
use pi_subagents_sessions::CallerName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::next_steps::Door;
use crate::places::Places;
use crate::runs::session_runs::SessionRuns;
use crate::runs::workspace::EarlierWorktree;

/// A caller of tools, seen through its door.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The door through which they came.
    pub(crate) door: Door,
    /// The name that the records of their runs keep.
    pub(crate) name: CallerName,
    /// The directories of the caller.
    pub(crate) places: Places,
    /// True if they trust the project, for this call.
    pub(crate) trusts_project: bool,
    /// The options for every task of the call.
    pub(crate) overrides: Overrides,
    /// The width of their terminal, if they have one.
    pub(crate) columns: Option<usize>,
    /// The pi that calls, if the caller is a pi.
    pub(crate) pi: Option<CallingPi>,
    /// The runs of pi's session, where the caller is a pi: it knows no others.
    pub(crate) session_runs: Option<Arc<SessionRuns>>,
}

/// The options for all tasks of a call, unless a task has its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overrides {
    pub(crate) runner: Option<RunnerChoice>,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) allowance: Allowance,
    /// The kind of place where the runs work.
    pub(crate) isolation: Option<Isolation>,
    /// The state that new worktrees begin from.
    pub(crate) base: Option<BaseChoice>,
    /// The worktree in which a session goes on.
    pub(crate) worktree: Option<EarlierWorktree>,
    /// The tools of a task without a definition.
    pub(crate) tools: Option<Vec<String>>,
    /// The gates of every task that names none itself.
    pub(crate) gates: Vec<Gate>,
    /// The number of times that a sub-agent gets the failure of a gate of its own or of its
    /// definition.
    pub(crate) gate_retries: Option<u32>,
    /// The schema that the result of every task must meet, unless the task says otherwise.
    pub(crate) output_schema: Option<Value>,
    /// The wishes about the fleet.
    pub(crate) fleet: FleetWishes,
}

/// The wishes of a call about its fleet; the settings decide the rest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FleetWishes {
    pub(crate) on: Option<Place>,
    pub(crate) priority: Option<Priority>,
    pub(crate) retries: Option<u32>,
    pub(crate) workspace: Option<WorkspaceChoice>,
}

/// A pi that calls us, as it describes itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallingPi {
    /// The program that it was started with, so that its children are of the same version.
    pub(crate) program: PathBuf,
    /// The arguments that always come first, such as the script that Node runs.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) version: String,
    /// The model it talks to, as provider/id.
    pub(crate) model: Option<String>,
    /// The models it could talk to, as provider/id, in its order.
    pub(crate) models: Vec<String>,
    /// The tools it has switched on.
    pub(crate) active_tools: Vec<String>,
    /// All tools it knows.
    pub(crate) all_tools: Vec<String>,
    /// The skills it has found.
    pub(crate) skills: Vec<Skill>,
    /// The id of its session, which gets a message when a background run of it ends.
    pub(crate) session: String,
}

impl Caller {
    /// Returns whether the caller is a pi whose person has said yes to pi's own question about the
    /// project.
    pub(crate) fn is_trusting_pi(&self) -> bool {
        self.pi.is_some() && self.trusts_project
    }

    /// Returns the directory in which their tasks work, unless a task names another.
    pub(crate) fn working_directory(&self) -> PathBuf {
        match &self.overrides.cwd {
            Some(cwd) => self.places.cwd.join(cwd),
            None => self.places.cwd.clone(),
        }
    }

    /// Returns somebody at this place who uses the command line, and about whom nothing else is
    /// known.
    pub(crate) fn at(places: Places) -> Self {
        Self {
            door: Door::CommandLine,
            name: CallerName::Terminal,
            places,
            trusts_project: false,
            overrides: Overrides::default(),
            columns: None,
            pi: None,
            session_runs: None,
        }
    }
}
