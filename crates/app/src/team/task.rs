//! What a program asks a team to do.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_delegation::SessionId;

use crate::dialects::delegation::{FileSpec, TaskCall};

/// A task for one sub-agent.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// What it is called where runs are listed.
    pub name: String,
    /// What the sub-agent is asked. It sees nothing else.
    pub prompt: String,
    /// The definition that describes the sub-agent.
    pub profile: Option<String>,
    /// Where it works, as an absolute path; else where the team does.
    pub cwd: Option<PathBuf>,
    /// How long it may take; else what its definition says, else ten minutes.
    pub timeout: Option<Duration>,
    /// An earlier session to continue; its transcript is put before the prompt.
    pub resume: Option<SessionId>,
    /// Files that are put before the prompt, relative to where it works, or absolute.
    pub files: Vec<PathBuf>,
}

impl Task {
    /// A task with nothing but its name and its prompt.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    pub(super) fn into_call(self) -> TaskCall {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        TaskCall {
            name: self.name,
            prompt: self.prompt,
            cwd: self.cwd.map(text),
            profile: self.profile,
            timeout: self.timeout.map(|timeout| timeout.as_secs_f64()),
            resume: self.resume.map(|session| session.as_str().to_owned()),
            files: self
                .files
                .into_iter()
                .map(|file| FileSpec::Path(text(file)))
                .collect(),
        }
    }
}
