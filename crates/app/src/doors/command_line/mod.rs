//! The command line: the commands, their output, and the view of runs on a terminal.

pub(crate) mod cli;
pub(crate) mod commands;
pub(crate) mod completion;
mod json_stream;
mod log_lines;
mod markdown_file;
mod message_json;
mod pager;
mod read_conversation;
pub(crate) mod run_table;
pub(crate) mod sheet;
pub(crate) mod since;
mod told;
mod view;
pub(crate) mod waiting_line;
