//! Decides everything about the tasks of a call: directory, definition, model, program, tools and
//! limits. It only reads and makes nothing, so a call that fails here leaves no trace.

mod asked;
mod definition;
mod found_here;
mod gates;
mod model;
mod model_check;
mod place;
mod resolver;
mod schema;
mod task;
mod terms;
#[cfg(test)]
mod tests;
mod working_directory;

pub(crate) use asked::{Asked, Family};
pub(crate) use definition::check_definition;
pub use model::ChosenModel;
pub(crate) use model::provider_of;
pub use model_check::model_place;
pub use place::RunPlace;
pub use resolver::Resolver;
pub use task::{ResolvedTask, ResolvedWork};
