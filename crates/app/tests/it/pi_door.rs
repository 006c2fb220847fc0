//! Inside the real pi: its model calls our tools, its user types our commands, and whatever
//! becomes of it, nothing of ours hurts it or outlives it.

mod background;
mod commands;
mod delegating;
mod ending;
mod fitting;
mod installing;
mod misbehaving;
mod redrawing;
mod registering;
mod remembering;
mod results;
mod screens;
mod sizes;
pub(crate) mod stage;
mod subagent;
