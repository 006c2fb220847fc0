//! The tool for results that wait for a review: `review_subagents` says what waits and why, and takes
//! results into the checkout where a person has said yes. It is offered only to callers that have a
//! result.

mod act;
mod consent;
mod text;
mod tools;

pub(crate) use act::review_subagents;
pub use act::send_back_from;
pub use consent::{ReviewPermission, ReviewQuestion, review_question};
pub use tools::{REVIEW, tools};
