//! # Commands for definitions
//!
//! `profile`: the definitions of every dialect, listed, shown, explained and changed.
//!
//! `Seen` holds everything that is visible from the current directory; each subcommand has a file
//! of its own. The reasons are in `docs/design/catalogue.md`.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

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
mod list;
mod listed;
mod save;
pub mod seen;
mod show;
mod starter;
mod unset;
mod wizard;

pub use command::{ProfileArgs, run, run_for};
pub use listed::seen_definitions;
