//! The tool families: what a caller writes, how it becomes a plan, and what it is answered.

mod arguments;
mod child_extension;
mod definition_use;
pub(crate) mod delegation;
mod working_directory;
