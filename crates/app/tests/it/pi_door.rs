//! Inside the real pi: its model calls our tools, its user types our commands, and nothing of ours
//! hurts it or outlives it, however it ends.

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
mod result_screens;
mod results;
mod screens;
mod sizes;
pub(crate) mod stage;
mod subagent;
