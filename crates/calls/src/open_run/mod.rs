//! Opens the runs of a call: gives each resolved task its ids, its directory, the files of its
//! child and its record. The result is the plan that the engine runs.

mod child_extension;
mod conversation;
mod earlier_session;
mod files;
mod inherited;
mod kept_tools;
mod opening;
mod ordered;
mod taken;
mod worktree;

pub(crate) use conversation::Conversation;
pub use earlier_session::EarlierSession;
pub use inherited::Inherited;
pub use opening::Opening;
pub use ordered::Ordered;
pub use taken::{TakenSkill, TakenTask};
