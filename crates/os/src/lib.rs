//! # Processes
//!
//! Reads from `/proc` the parents of processes, the times at which they started, and the marks in
//! their environments; sends signals to processes and to whole trees. The keeper of a run and the
//! shell of the embedded agent both use it to find and end the processes they have started.
//!
//! A process is always named by its number and its start time ([`ProcessName`]), so that a signal
//! never reaches a stranger who got the number meanwhile.

#![expect(
    clippy::disallowed_methods,
    reason = "the kernel makes the files of /proc, and they are short; signals are sent here"
)]

mod environment;
mod name;
mod reaping;
mod stat;
mod tree;

pub use environment::{carries, for_each_carrier};
pub use name::ProcessName;
pub use reaping::{reap, reap_killed};
pub use stat::{Stat, all_processes, children, name_this_process, process_name, start_time};
pub use tree::{descendants, signal_descendants, stop_descendants};
