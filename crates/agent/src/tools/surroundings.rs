//! The facts that a tool knows about the run it works for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pi_subagents_vocabulary::OutputSchema;
use pi_subagents_vocabulary::shell_commands::CommandForms;

use super::Guarded;
use crate::dialogs::Dialogs;

/// The surroundings of one call. They go to threads, so they own everything.
#[derive(Debug, Clone)]
pub(crate) struct ToolSurroundings {
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
    /// The directories that are not written to.
    pub(crate) guarded: Guarded,
    /// The forms of the only commands that the shell runs.
    pub(crate) commands: Option<CommandForms>,
    /// The schema that the reported result must meet.
    pub(crate) output_schema: Option<OutputSchema>,
    /// The dialogs by which the client is asked, if it may be.
    pub(crate) dialogs: Option<Dialogs>,
    /// The directory of the run, if an owner has started the agent.
    pub(crate) run_directory: Option<PathBuf>,
    /// The environment that shell commands get, without any key.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) session_id: String,
    pub(crate) session_file: Option<PathBuf>,
    pub(crate) model: ModelInUse,
}

/// The facts about the model that tools may use.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelInUse {
    pub(crate) provider: String,
    pub(crate) id: String,
    pub(crate) thinking: String,
    pub(crate) sees_images: bool,
}
