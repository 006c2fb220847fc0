//! A task as its caller writes it: one type for all families of tools, for the command line and for
//! programs. The words of a family for the fields of a task, and the fields that it requires, are a
//! value: its form.

mod budget;
mod field;
mod form;
mod task;
mod terms;

pub(crate) use budget::{BUDGET, budget_of, budget_schema};
pub(crate) use field::{
    AFTER_FAILURE, AGENT, ATTEMPTS, CWD, FILES, FOR_EACH, MODEL, MODELS, NAME, NEEDS, PICK, PROMPT,
    RESUME, SESSION, TIMEOUT,
};
pub(crate) use form::{Described, FormField, Need, TaskFields, TaskForm, Word};
pub use task::{Continues, TaskRequest};
