//! The background family: `background_agent`, which hands a task to a detached process, and
//! `background_agent_status`, which reports its state.

mod spawn;
mod status;
mod text;
mod tools;

pub(crate) use spawn::{background_agent, spawn};
pub(crate) use status::background_agent_status;
pub(crate) use text::{Shown, notice, row as row_text};
pub(crate) use tools::{BACKGROUND, STATUS, tools};
