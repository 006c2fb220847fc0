//! The model and its frames, tested without a terminal.

mod frames;
mod keys;
mod list;
mod screens;
mod starts;
mod window;
