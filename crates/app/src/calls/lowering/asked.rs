//! What a family says about itself and about each of its tasks.

use std::time::Duration;

use pi_subagents_definitions::Asker;
use pi_subagents_delegation::{SessionId, SessionPolicy};

/// A family of tools, as far as its tasks are lowered differently.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    /// Which dialect it prefers when a name is that of several definitions.
    pub(crate) asker: Asker,
    /// The time a task has when nobody says otherwise.
    pub(crate) timeout: Option<Duration>,
}

/// One task, as its family read it.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    /// What its run is called.
    pub(crate) name: String,
    pub(crate) prompt: &'a str,
    pub(crate) session: SessionId,
    pub(crate) definition: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) cwd: Option<&'a str>,
    pub(crate) timeout: Option<Duration>,
}

/// What the child is told, and where it keeps what is said.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    /// The whole prompt: files, transcript and the caller's words.
    pub(crate) prompt: String,
    pub(crate) session: SessionPolicy,
    /// What of it the caller should know.
    pub(crate) warnings: Vec<String>,
}
