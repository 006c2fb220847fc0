//! # Commands for definitions
//!
//! `profile`: the definitions of every dialect, listed, shown, explained and changed.
//!
//! `VisibleAgents` holds everything that is visible from the current directory; each subcommand has a file
//! of its own. The reasons are in `docs/design/catalogue.md`.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

mod add;
mod agent_list;
pub mod ask;
mod choose;
mod command;
mod create;
mod delete;
mod details;
pub mod doubts;
mod edit;
mod editor;
mod examples;
mod explain;
mod fields;
mod flags;
mod import;
mod list;
mod ready_made;
pub mod results;
mod save;
mod show;
mod starter;
mod unset_fields;
pub mod visible_agents;
mod wizard;

pub use add::{ReadyMadeCopy, ready_made_copies};
pub use agent_list::seen_definitions;
pub use command::{ProfileArgs, run, run_for};
pub use ready_made::ready_made_names;
