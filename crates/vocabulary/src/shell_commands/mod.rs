//! The commands that a shell of a child runs, if its definition lists them.
//!
//! This is a guide rail and not a fence: a listed command may do anything that its program can, such
//! as run a script that the child wrote. The sandbox is the fence.

/// The beginning of the question with which a child of pi asks whether it may run the command that
/// follows.
pub const COMMAND_QUESTION: &str = "pi-subagents:command ";

/// The answer to a command that may run; any other answer is the sentence for the model.
pub const COMMAND_FITS: &str = "run";

mod forms;
mod simple_command;

pub(crate) use forms::check_forms;
pub use forms::{CommandForms, CommandRefusal};
