//! Makes room in a conversation: what is old is replaced by a summary that the model writes.
//!
//! `overflow` tells when there is no room, `plan` what is kept, `summary` what the model is
//! asked, `compact` does it. The reasons are in `docs/design/embedded-agent.md`.

mod compact;
mod overflow;
mod plan;
mod summary;
#[cfg(test)]
mod tests;

#[cfg(test)]
use compact::CompactionError;
pub(crate) use compact::{Reason, Trigger};
pub(crate) use overflow::is_overflow;
pub(crate) use plan::{Limits, Plan};
