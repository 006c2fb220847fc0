//! Conversations that go on on this machine and in a fleet, one run after the other. A run here takes
//! the conversation out of the fleet and gives it back; a run there finds it saved.

mod catch_up;
mod key;
mod local_runs;
mod upload;

pub(crate) use catch_up::catch_up;
pub(crate) use key::key_of;
pub(crate) use local_runs::work_here;
pub(super) use upload::send;
