//! A landing: the difference between two states of a checkout that was written into it in one step,
//! and that can be taken back in one step.
//!
//! Each landing has a folder in the directory of git and two refs that keep its states
//! (`refs/pi-subagents/landings/<id>/{before,after}`). Marks in the folder say how far it came:
//! whoever finishes a write after a crash makes the same mark as the process that began it
//! (`checkout_writer`). What a landing was made of is written into the folder by its caller.

mod folder;
mod path_entries;
mod take_back;
mod write;

pub use self::folder::{Landing, LandingMark};
pub use self::take_back::{HalfRehearsed, HalfState, SavedEdits, TakenBack};
pub use self::write::Landed;
