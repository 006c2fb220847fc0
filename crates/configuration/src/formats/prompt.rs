//! Prompts: the body is the system prompt, and a run must report its result.

/// Keys that only prompts have.
pub(super) const TELLING_KEYS: &[&str] = &[
    "approved_tools",
    "allowed_tools",
    "denied_tools",
    "finalize",
];
