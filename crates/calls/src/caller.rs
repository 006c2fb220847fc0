//! The caller of a tool, as far as its door knows it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_configuration::Skill;
use pi_subagents_records::CallerName;
use pi_subagents_vocabulary::{
    Answerers, BaseChoice, McpServer, Place, Priority, RunTerms, WorkspaceChoice,
};
use serde::{Deserialize, Serialize};

use crate::budget::BudgetWishes;
use crate::families::review_tool::ReviewPermission;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_runs::workspace::EarlierWorktree;
use pi_subagents_vocabulary::Door;

/// A caller of tools, seen through its door.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The door through which they came.
    pub door: Door,
    /// The name that the records of their runs keep.
    pub name: CallerName,
    /// The directories of the caller.
    pub places: Places,
    /// True if they trust the project, for this call.
    pub trusts_project: bool,
    /// The options for every task of the call.
    pub overrides: Overrides,
    /// The width of their terminal, if they have one.
    pub columns: Option<usize>,
    /// The pi that calls, if the caller is a pi.
    pub pi: Option<CallingPi>,
    /// Those who see the questions of their runs and can answer.
    pub answerers: Answerers,
    /// The patience with questions that nobody answers.
    pub parking: Parking,
    /// The right of their model to accept, discard and undo in a review.
    pub review: ReviewPermission,
    /// The runs of pi's session, where the caller is a pi: it knows no others.
    pub session_runs: Option<Arc<SessionRuns>>,
}

/// When a run that waits for an answer is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parking {
    /// Never: its call waits for it.
    #[default]
    Never,
    /// After the time of the settings, or the usual time.
    InTime,
    /// At once, unless the settings name a time: nobody is at the door.
    AtOnce,
}

/// The time for which a run waits for an answer, unless the settings name another.
const USUAL_WAIT: Duration = Duration::from_mins(10);

impl Parking {
    /// Returns for how long a run waits, if it does not wait for ever.
    pub(crate) fn after(self, setting: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::InTime => Some(setting.unwrap_or(USUAL_WAIT)),
            Self::AtOnce => Some(setting.unwrap_or_default()),
        }
    }
}

/// The options for all tasks of a call, unless a task has its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overrides {
    /// The terms of every task that does not set them itself.
    pub terms: RunTerms,
    pub cwd: Option<PathBuf>,
    /// The state that new worktrees begin from.
    pub base: Option<BaseChoice>,
    /// The worktree in which a session goes on.
    pub worktree: Option<EarlierWorktree>,
    /// The wishes about the fleet.
    pub fleet: FleetWishes,
    /// The wishes about budgets.
    #[serde(default)]
    pub budget: BudgetWishes,
    /// Servers with functions of the calling program, beside those of agents. They end with it.
    #[serde(skip)]
    pub host_servers: Vec<McpServer>,
    /// True if a person has agreed to maps of many items without a budget, and to very large prompts.
    #[serde(default)]
    pub is_agreed: bool,
}

/// The wishes of a call about its fleet; the settings decide the rest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetWishes {
    pub on: Option<Place>,
    pub priority: Option<Priority>,
    pub retries: Option<u32>,
    pub workspace: Option<WorkspaceChoice>,
}

/// A pi that calls us, as it describes itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallingPi {
    /// The program that it was started with, so that its children are of the same version.
    pub program: PathBuf,
    /// The arguments that always come first, such as the script that Node runs.
    pub arguments: Vec<OsString>,
    pub version: String,
    /// The model it talks to, as provider/id.
    pub model: Option<String>,
    /// The models it could talk to, as provider/id, in its order.
    pub models: Vec<String>,
    /// The tools it has switched on.
    pub active_tools: Vec<String>,
    /// All tools it knows.
    pub all_tools: Vec<String>,
    /// The skills it has found.
    pub skills: Vec<Skill>,
    /// The id of its session, which gets a message when a background run of it ends.
    pub session: String,
}

impl Caller {
    /// Returns whether the caller is a pi whose person has said yes to pi's own question about the
    /// project.
    pub(crate) fn is_trusting_pi(&self) -> bool {
        self.pi.is_some() && self.trusts_project
    }

    /// Returns those who can answer. Where nobody is at the door, a person answers parked runs, if
    /// the settings say when runs are parked.
    pub(crate) fn answerers_with(&self, parking_is_set: bool) -> Answerers {
        Answerers {
            person: self.answerers.person || (self.parking == Parking::AtOnce && parking_is_set),
            ..self.answerers
        }
    }

    /// Returns the same caller with those who see the questions of this call.
    #[must_use]
    pub fn answered_by(self, answerers: Answerers) -> Self {
        Self { answerers, ..self }
    }

    /// Returns the directory in which their tasks work, unless a task names another.
    pub fn working_directory(&self) -> PathBuf {
        match &self.overrides.cwd {
            Some(cwd) => self.places.cwd.join(cwd),
            None => self.places.cwd.clone(),
        }
    }

    /// Returns somebody at this place who uses the command line, and about whom nothing else is
    /// known.
    pub fn at(places: Places) -> Self {
        Self {
            door: Door::CommandLine,
            name: CallerName::Terminal,
            places,
            trusts_project: false,
            overrides: Overrides::default(),
            columns: None,
            pi: None,
            answerers: Answerers::default(),
            parking: Parking::Never,
            review: ReviewPermission::Missing,
            session_runs: None,
        }
    }
}
