//! The prompt and the conversation with which a child begins.

use pi_subagents_vocabulary::SessionPolicy;

/// The prompt of the child, and the place where it keeps its conversation.
#[derive(Debug, Clone)]
pub struct ChildConversation {
    /// The whole prompt: files, transcript and the caller's words.
    pub(crate) prompt: String,
    pub(crate) session: SessionPolicy,
    /// The warnings about it for the caller.
    pub(crate) warnings: Vec<String>,
}
