//! What all families share on the way from a call to a plan: directory, definition, model, child,
//! ids, files, limits and record. In what they differ, they say with values.

mod asked;
mod files;
mod kept_tools;
mod model;
mod plan;
mod prepare;

pub(crate) use asked::{Asked, Conversation, Family};
pub(crate) use prepare::{Lowering, Prepared};
