//! What a program asks a team to do.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_delegation::SessionId;

use crate::calls::families::delegation::{FileSpec, TaskCall};

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
}

impl Task {
    /// A task with its name, which stands where runs are listed, and its prompt. The sub-agent
    /// sees nothing else.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            prompt: prompt.into(),
            profile: None,
            cwd: None,
            timeout: None,
            resume: None,
            files: Vec::new(),
        }
    }

    /// The definition that describes the sub-agent.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Where it works, as an absolute path; else where the team does.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// How long it may take; else what its definition says, else ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// An earlier session to continue; its transcript is put before the prompt.
    pub fn resume(mut self, session: SessionId) -> Self {
        self.resume = Some(session);
        self
    }

    /// One more file that is put before the prompt, relative to where it works, or absolute.
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
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
