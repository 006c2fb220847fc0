//! Inside the real pi: its model calls our tools, its user types our commands, and nothing of ours
//! hurts it or outlives it, however it ends.

mod background;
mod background_questions;
mod bad_children;
mod commands;
mod ending;
mod installation;
mod memory;
mod questions;
mod redraws;
mod registration;
mod result_screens;
mod results;
mod screens;
mod sizes;
pub(crate) mod stage;
mod subagent;
mod tool_calls;
mod window_height;
