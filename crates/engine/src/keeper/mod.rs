//! # The keeper
//!
//! A small process between owner and child. It is a subreaper, so whatever the child leaves
//! behind becomes the keeper's own; it ends the whole tree when it is told to, when its owner is
//! gone in any way, or when the child has exited. See `docs/design/stopping.md`.

mod keep;
mod link;
mod tree;
mod wire;

pub use keep::keep;
pub(crate) use link::KeeperLink;
pub(crate) use tree::ProcessTree;
pub(crate) use wire::{Handed, Report};
