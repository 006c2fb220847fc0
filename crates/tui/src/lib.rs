//! # All runs on one screen
//!
//! `attach`: all runs of this user on one screen, live.
//!
//! The state is a fold: `Model` takes one `Message` after the other and returns the work that
//! it wants done. The screen is a function of the model (`draw`). Everything that waits for
//! something else is at the edges: the terminal (`screen`, `keyboard`), the records (`reader`), the
//! owners (`owners`). `session` puts them together. See `docs/design/attach.md`.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

mod clipboard;
mod draw;
mod keyboard;
mod keys;
mod layout;
mod line_editor;
mod list;
mod list_row;
mod message;
mod model;
mod model_queries;
mod news;
mod opened_run;
mod owners;
mod page;
mod reader;
mod results;
mod review;
mod scope;
mod screen;
mod search;
mod selection;
mod session;
mod sheet;
mod sort_order;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transcript;

pub use model::Leaving;
pub use review::{ReviewScreen, review_screen};
pub use scope::ScreenScope;
pub use session::{Attachment, attach};
