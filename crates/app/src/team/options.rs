//! How a team is opened.

use std::path::PathBuf;

use pi_subagents_delegation::RunnerChoice;

/// How a team is opened. The default is what the command line would do in this process.
#[derive(Debug, Clone, Default)]
pub struct TeamOptions {
    /// Where the sub-agents work, and whose project's definitions count; else the current
    /// directory.
    pub cwd: Option<PathBuf>,
    /// The home directory that holds `.pi/agent`, for us and for the sub-agents; else that of the
    /// environment.
    pub home: Option<PathBuf>,
    /// The `pi-subagents` binary, which keeps every sub-agent and is the embedded one; else what
    /// `PI_SUBAGENTS_BIN` names, else the one on `PATH`.
    pub binary: Option<PathBuf>,
    /// Use the definitions, settings and skills of the project even if nobody has trusted it yet.
    pub trusts_project: bool,
    /// Which kind of sub-agent does the work; else what a definition or the settings say.
    pub runner: Option<RunnerChoice>,
    /// The model of all tasks: an id, provider/id or a pattern.
    pub model: Option<String>,
    /// The only tools of all sub-agents; else what a definition says, else those they have anyway.
    pub tools: Option<Vec<String>>,
    /// How many sub-agents run at once; else what the settings say.
    pub concurrency: Option<usize>,
}
