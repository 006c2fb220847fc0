//! # The Model Context Protocol
//!
//! Serves tools over stdin and stdout, and knows nothing of them but [`Tools`]. All of the
//! protocol's library is in here: it changes often and compiles long.
//!
//! A call ends early when its client cancels it, or when stdin ends; then it is told so by
//! [`CallWatch::cancelled`] and waited for. [`serve`] returns when no call is under way any more.

mod calls;
mod door;
mod input;
mod progress;
mod serve;
mod tools;

pub use progress::{OnProgress, Progress};
pub use serve::{ServeError, serve};
pub use tools::{CallAnswer, CallWatch, Cancelled, Introduction, ToolDescription, Tools};
