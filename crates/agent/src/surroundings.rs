//! The directories and variables that the agent gets from the program that starts it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pi_subagents_files::NeverProjects;

/// The directories and the environment of an agent. Only the caller reads the environment.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directory in which the agent works, unless a resumed session names another.
    pub cwd: PathBuf,
    /// The directories that are never a project. With them the agent finds the project that it
    /// works in, and links in that project must not lead out of it.
    pub never_projects: NeverProjects,
    /// The home directory, for `~` in paths.
    pub home: PathBuf,
    /// Pi's agent directory, with `models.json`, `auth.json` and `settings.json`.
    pub agent_dir: PathBuf,
    /// The environment of the process.
    pub variables: BTreeMap<String, String>,
}
