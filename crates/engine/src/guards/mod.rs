//! Rules that end a run which would not end by itself. They are pure: instants and records in, a
//! [`Decision`](pi_subagents_vocabulary::Decision) out; only the unit sleeps.

mod cycles;
mod deadline;
mod gates;
mod poller;
mod repetition;
mod signature;
mod spending;
mod turns;

pub(crate) use cycles::{Cycles, StuckStep};
pub(crate) use deadline::Deadline;
pub(crate) use gates::{GateAttempts, GateVerdict};
pub(crate) use poller::Pollers;
pub(crate) use repetition::Repetition;
pub(crate) use spending::{NEARLY_SPENT, Spending, SpendingRung};
pub(crate) use turns::Turns;
