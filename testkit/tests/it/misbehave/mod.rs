//! Each step of `misbehave` once, in a real process.

mod commands;
mod endings;
mod garbage;
mod grandchildren;
mod size;
mod stage;
mod turns;
mod waits;
mod witness;
