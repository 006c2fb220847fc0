//! The values in which a family and its tasks differ from others.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_configuration::Asker;
use pi_subagents_vocabulary::SessionId;

use crate::open_run::Inherited;
use crate::task_terms::TaskTerms;

/// A family of tools, as far as its tasks are resolved differently.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The dialect that it prefers if several definitions have the same name.
    pub(crate) asker: Asker,
    /// The time limit of a task by default.
    pub(crate) timeout: Option<Duration>,
}

/// One task, as its family read it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The name of its run.
    pub(crate) name: String,
    pub(crate) prompt: String,
    pub(crate) session: SessionId,
    pub(crate) definition: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    /// The terms that the task inherits from the run that it continues.
    pub(crate) inherited: Option<Inherited>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) terms: TaskTerms,
}
