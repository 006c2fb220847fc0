//! The command line: what can be typed, what is printed, and how runs are shown on a terminal.

pub(crate) mod cli;
pub(crate) mod commands;
pub(crate) mod completion;
mod json_stream;
mod since;
mod view;
