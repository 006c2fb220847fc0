//! The room that a machine has for children, shared by all owners of its user. Pure: whoever asks has
//! looked at the machine, and at what the others have claimed.

mod load;
mod shortage;

pub use load::{ClaimedChild, MachineLoad};
pub use shortage::RoomShortage;
