//! The tool families. Their differences are values.

pub(crate) mod background;
pub(crate) mod delegation;
pub(crate) mod merging;
pub(crate) mod runs;
pub(crate) mod subagent;
