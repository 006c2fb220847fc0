//! Opens the runs of a call: gives each resolved task its ids, its directory, the files of its
//! child and its record. The result is the plan that the engine runs.

mod child_extension;
mod confinement;
mod conversation;
mod earlier_session;
mod files;
mod inheritance;
mod kept_tools;
mod keyless_server;
mod opening;
mod private_agent_directory;
mod reachable_models;
mod taken_task;
mod worktree;

pub(crate) use conversation::ChildConversation;
pub use earlier_session::EarlierSession;
pub use inheritance::Inherited;
pub use opening::Opening;
pub use taken_task::{TakenSkill, TakenTask};
