//! Conversations that go on on this machine and in a fleet, one run after the other. A run here takes
//! the conversation out of the fleet and gives it back; a run there finds it saved.

mod at_home;
mod caught_up;
mod key;
mod sent;

pub(crate) use at_home::work_here;
pub(crate) use caught_up::catch_up;
pub(crate) use key::key_of;
pub(super) use sent::send;
