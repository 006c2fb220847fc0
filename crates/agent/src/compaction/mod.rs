//! Makes room in a conversation: old messages are replaced by a summary that the model writes.
//!
//! `is_overflow` of the vocabulary finds out that there is no room, `plan` chooses the messages that are kept, `summary`
//! words the request to the model, `compact` does it. The reasons are in
//! `docs/design/embedded-agent.md`.

mod compact;
mod plan;
mod summary;
#[cfg(test)]
mod tests;

#[cfg(test)]
use compact::CompactionError;
pub(crate) use compact::{Reason, Trigger};
pub(crate) use plan::{Limits, Plan};
