//! The wizard: ten steps from a definition to the one that is meant.
//!
//! A field that is set is shown and kept unless another choice is made; removing it is a choice of its
//! own. Nothing is written here: whoever started the wizard saves what it comes to.

mod field;
mod lists;
mod skipping;
mod steps;

pub(super) use steps::walk;
