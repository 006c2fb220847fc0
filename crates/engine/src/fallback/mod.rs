//! Goes on with another model if the one of a run cannot be asked.
//!
//! [`CooldownFile`] is the file in which all runs of the user note which models rest, `model_line`
//! is the pure rule of which model comes next, and `live_child/model_switch.rs` sends the commands.

mod cooldown_file;
mod first_model;
mod model_line;

pub use cooldown_file::{CooldownFile, CooldownFileError};
pub(crate) use first_model::choose_first;
pub(crate) use model_line::{ModelLine, NextModel, SwitchAnswer, SwitchStep};
