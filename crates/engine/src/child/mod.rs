//! One child process: its start, its output and its input.

mod command_line;
mod held_line;
mod inbox;
mod launch;
mod lines;
mod memory;
mod outbox;
mod session_lock;
mod stderr;

pub(crate) use inbox::{Inbox, Splitter};
pub(crate) use launch::{
    CommandOfRun, LaunchError, LaunchedChild, LaunchedCommand, launch, launch_command, lock_session,
};
pub(crate) use lines::{Line, LineReader};
pub(crate) use memory::LineMemory;
pub(crate) use outbox::Outbox;
pub(crate) use session_lock::SessionLock;
pub(crate) use stderr::StderrLines;
