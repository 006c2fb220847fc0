//! The model and its frames, tested without a terminal.

mod keys;
mod list;
mod screens;
mod seen;
mod starting;
mod window;
