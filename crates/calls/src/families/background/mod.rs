//! The background family: `background_agent`, which hands a task to a detached process, and
//! `background_agent_status`, which reports its state.

mod status;
mod text;
mod tool_answer;
mod tools;

pub(crate) use status::background_agent_status;
pub use text::{Shown, ask_notice, notice, row as row_text};
pub use tool_answer::background_agent;
pub use tools::{BACKGROUND, STATUS, tools};
