//! The wizard: ten steps from a definition to the one that is meant.
//!
//! The wizard shows a field that is set and keeps it by default; removing it is a choice of its
//! own. Nothing is written here: whoever started the wizard saves what it comes to.

mod field;
mod lists;
mod models;
mod place;
mod skipping;
mod steps;

pub(super) use steps::{begin, walk};
