//! The wizard: one step for each question, from a definition to a changed one.
//!
//! The wizard shows a field that is set and keeps it by default; removing it is a choice of its
//! own. Nothing is written here: the caller of the wizard saves the result.

mod field;
mod lists;
mod models;
mod numbers;
mod place;
mod skippable_questions;
mod steps;

pub(super) use numbers::StepNumbers;
pub(super) use steps::{begin, walk};
