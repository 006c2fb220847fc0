//! The binary as its users know it: real processes, a hermetic home, children that misbehave.

mod concurrency;
mod control;
mod endings;
mod offline;
mod real_model;
mod record;
mod refusals;
mod resume;
mod stage;
mod stopping;
