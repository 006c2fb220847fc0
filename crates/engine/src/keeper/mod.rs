//! # The keeper
//!
//! A small process between owner and child. It is a subreaper, so the processes that the child
//! leaves behind become the keeper's own. It ends the whole tree when its owner orders it or is
//! gone in any way, or when the child has exited. See `docs/design/stopping.md`.

mod confined_command;
mod handover;
mod keep;
mod link;
mod owner_sign;
mod sandbox;
mod wire;

pub use confined_command::ConfinedCommand;
pub(crate) use handover::{ChildCommand, Handed, hand_over};
pub(crate) use keep::GRACE_WITHOUT_OWNER;
pub use keep::keep;
pub(crate) use link::KeeperLink;
pub(crate) use sandbox::KeptSandbox;
pub(crate) use wire::Report;

/// The name of a keeper's process. It differs from the owner's name, so that a command that kills
/// our processes by name leaves the keepers, which then end the trees.
pub(crate) const KEEPER_NAME: &str = "pisub-keeper";
