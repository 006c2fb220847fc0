//! The values in which a family and its tasks differ from others.

use std::path::Path;
use std::time::Duration;

use pi_subagents_configuration::Asker;
use pi_subagents_vocabulary::SessionId;

use crate::task_terms::TaskTerms;
use pi_subagents_runs::workspace::EarlierWorktree;

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
pub(crate) struct Asked<'a> {
    /// The name of its run.
    pub(crate) name: String,
    pub(crate) prompt: &'a str,
    pub(crate) session: SessionId,
    pub(crate) definition: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) cwd: Option<&'a Path>,
    /// The worktree of an earlier run of its session, in which it goes on.
    pub(crate) worktree: Option<EarlierWorktree>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) terms: &'a TaskTerms,
}
