//! The acts that start a run: a session goes on, a task is done again, a task goes to the
//! background. Those that start none are in `runs::acts`. No door puts an act together itself, so
//! that it does the same behind every one of them.

mod background;
mod repetition;
mod rest_of_call;
mod resume;

pub use self::background::{Spawned, StartedRun, spawn};
pub use self::repetition::Repetition;
pub use self::rest_of_call::RestOfCall;
pub use self::resume::{ResumedCall, Resumption};
