//! # The engine
//!
//! Plans in, events out. An [`Engine`] is the heart of an owner: the process that owns runs.
//!
//! ## Theory of operation
//!
//! One **dispatcher** task knows the state of all runs of the owner. Each task of a plan waits
//! in its line until one of the owner's places is free; then the dispatcher starts a **unit**, the
//! one async task that owns a child. Units send events to the dispatcher over one bounded
//! channel; the dispatcher hands them, in order, to the sinks of the call and to nobody else.
//! Requests go the other way: to stop a run, to send something to its child.
//!
//! A child is started through a **keeper**, a small process that ends the child's whole tree when
//! the owner orders it or is gone in any way; if keeper and owner are killed together, a
//! **warden** does. Rules that end a run are pure values
//! (`guards`), as is the judgement of how it ended (`completion`).
//!
//! The engine knows nothing of definitions, doors and windows; it reads no configuration and
//! prints nothing. See `docs/design/run-loop.md` and `docs/design/stopping.md`.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod checkout;
mod child;
mod clock;
mod completion;
mod dispatcher;
mod engine;
mod fallback;
mod gate;
mod gateway;
mod guards;
mod head_start;
mod keeper;
mod known_children;
mod launcher;
mod life;
mod limits;
mod live_child;
mod machine_room;
mod marks;
mod model_check;
mod owner;
mod partial_feed;
mod partial_pace;
mod pause;
mod purse;
mod questions;
mod reports;
mod request;
mod room;
mod run_progress;
mod scheduler;
mod setup;
mod stop_phases;
mod sweep;
mod to_child;
mod tool_check;
mod unit;
mod warden;

pub use engine::{CallUnderWay, Engine};
pub use fallback::{CooldownFile, CooldownFileError};
pub use keeper::{ConfinedCommand, keep};
pub use known_children::{HasProcess, KnownChildren};
pub use launcher::Launcher;
pub use limits::OwnerLimits;
pub use machine_room::MeetingPlace;
pub use marks::{BUDGETS, MARKS};
pub use owner::{
    AskError, LONGEST_SOCKET_NAME, OwnerAddress, OwnerReply, OwnerRequest, OwnerSocket,
    PartialStream, PartialUpdate, Want, ask, remove_abandoned_sockets,
};
pub use partial_feed::{Extent, PartialReader};
pub use pi_subagents_os::ProcessName;
pub use request::NotRunning;
pub use sweep::{end_leftovers, end_without_owner};
pub use to_child::{GivenReply, NotSent, ToChild};
pub use warden::ward;
