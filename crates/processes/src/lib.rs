//! # Processes
//!
//! What `/proc` tells about processes: who their parents are, when they started, and which marks
//! they carry in their environment. It looks and never touches. The keeper of a run and the shell
//! of the embedded agent both find what they have to end by it.

#![expect(
    clippy::disallowed_methods,
    reason = "the kernel makes the files of /proc, and they are short"
)]

mod environment;
mod stat;

pub use environment::{carries, for_each_carrier};
pub use stat::{Stat, all_processes, children, name_this_process, process_name, start_time};
