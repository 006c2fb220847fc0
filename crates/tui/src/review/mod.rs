//! # Results on one screen, to take, send back or discard
//!
//! `review` on a terminal. As in `attach`, the state is a fold: the `ReviewModel` takes one message
//! after the other and returns the work that it wants done, a frame is a function of the model
//! (`frame`), and everything that waits is at the edge (`session`).

mod code;
mod frame;
mod item;
mod keys;
mod model;
mod parts;
mod result_frame;
mod session;
#[cfg(test)]
mod tests;

pub use self::session::{ReviewScreen, review_screen};
