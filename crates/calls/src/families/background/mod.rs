//! The background family: `background_agent`, which hands a task to a detached process, and
//! `background_agent_status`, which reports its state.

mod spawn;
mod status;
mod text;
mod tools;

pub use spawn::{background_agent, spawn};
pub(crate) use status::background_agent_status;
pub use text::{Shown, notice, row as row_text};
pub use tools::{BACKGROUND, STATUS, tools};
