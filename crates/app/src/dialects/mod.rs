//! The tool families: what a caller writes, how it becomes a plan, and what it is answered.

pub(crate) mod delegation;
mod fields;
