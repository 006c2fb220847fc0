//! Decides everything about the tasks of a call: directory, definition, model, program, tools and
//! limits. It only reads and makes nothing, so a call that fails here leaves no trace.

mod allowed_model;
mod definition;
mod fallback;
mod family;
mod foreign_model;
mod gates;
mod model;
mod model_check;
mod other_agent;
mod place;
mod price;
mod reading_run;
mod resolver;
mod sandbox;
mod schema;
mod servers;
mod task;
mod terms;
#[cfg(test)]
mod tests;
mod this_machine;
mod working_directory;

pub(crate) use definition::check_definition;
pub(crate) use family::Family;
pub use foreign_model::{ForeignModel, ModelReason};
pub(crate) use model::provider_of;
pub use model_check::model_place;
pub use place::RunPlace;
pub(crate) use place::{commit_of_base, no_worktree};
pub use reading_run::ReadingRun;
pub use resolver::Resolver;
pub use sandbox::SandboxOrigin;
pub(crate) use task::RequestedTask;
pub use task::{FoundHere, ResolvedTask, ResolvedWork};
