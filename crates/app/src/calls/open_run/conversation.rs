//! The prompt and the conversation with which a child begins.

use pi_subagents_delegation::SessionPolicy;

/// What the child is told, and where it keeps what is said.
#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    /// The whole prompt: files, transcript and the caller's words.
    pub(crate) prompt: String,
    pub(crate) session: SessionPolicy,
    /// What the caller should know about it.
    pub(crate) warnings: Vec<String>,
}
