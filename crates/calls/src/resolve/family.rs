//! The values in which one family of tools differs from another when its tasks are resolved.

use std::time::Duration;

use pi_subagents_configuration::Asker;

/// A family of tools, as far as its tasks are resolved differently.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The dialect that it prefers if several definitions have the same name.
    pub(crate) asker: Asker,
    /// The time limit of a task by default.
    pub(crate) timeout: Option<Duration>,
}
