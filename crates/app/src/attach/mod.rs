//! `attach`: all runs of this user on one screen, live.
//!
//! The state is a fold: [`Model`] takes one [`Message`] after the other and says what it wants done.
//! What is drawn is a function of the model (`draw`). Everything that waits for something else is at
//! the edges: the terminal (`screen`, `keyboard`), the records (`reader`), the owners (`owners`).
//! `session` puts them together. See `docs/design/attach.md`.

mod draw;
mod keyboard;
mod keys;
mod layout;
mod line_editor;
mod list_row;
mod model;
mod opened;
mod owners;
mod reader;
mod screen;
mod session;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(crate) use model::{Leaving, Scope};
pub(crate) use session::{Attachment, attach};
