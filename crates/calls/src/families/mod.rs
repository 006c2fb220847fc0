//! The tool families. Their differences are values.

pub mod answers;
pub mod background;
pub mod delegation;
pub mod merging;
pub mod review_tool;
pub mod runs;
pub mod start_tool;
pub mod subagent;
