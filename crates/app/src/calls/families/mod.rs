//! The tool families: in what they differ, they say with values.

pub(crate) mod background;
pub(crate) mod delegation;
pub(crate) mod merging;
pub(crate) mod runs;
pub(crate) mod subagent;
