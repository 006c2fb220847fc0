//! # The edge of the operating system
//!
//! Everything that not every Unix has is asked for here, and nowhere else in the workspace: the
//! table of processes, signals that reach no stranger, orphans, the marks in environments, file
//! events, files that are opened without following links, descriptors that are inherited by nobody.
//!
//! - `interface.rs` has the questions, one trait per subject, implemented by [`System`] and a few
//!   types beside it.
//! - The folder `linux` has the answers of Linux. A second system is one more folder beside it and
//!   one more line in this file.
//! - The other files are the same on every Unix. They hold what is built on the answers, and the
//!   system calls that POSIX defines, so that no crate above needs to make system calls. The crate
//!   `files` is the exception: it makes the portable calls for files.
//!
//! A process is always named by its number and its start time ([`ProcessName`]), so that a signal
//! never reaches a stranger who got the number meanwhile. See `docs/design/platforms.md`.

#![expect(
    clippy::disallowed_methods,
    reason = "this crate is the place for these calls; the kernel makes the files that it reads"
)]

mod carriers;
mod child_status;
mod interface;
mod name;
mod posix;
mod program;
mod program_keeper;
mod start;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;
mod terminal;
mod tree;

#[cfg(not(target_os = "linux"))]
compile_error!("the edge has no folder for this system yet: see docs/design/platforms.md");

pub use carriers::{carries, for_each_carrier};
pub use child_status::{Reaped, reap, reap_any, reap_killed};
pub use interface::{
    Adoption, Descriptors, DirectoryWatch, Disk, Kin, Machine, Mark, Marks, ProcessLook,
    ProcessName, ProcessState, Processes, System, SystemFacts, Watched,
};
pub use posix::{
    free_space, is_for_want_of_room, is_superuser, kill_group, leave_no_core, leave_terminal,
    let_inherit, may_execute, may_write_into, silence_stderr, silence_stdout, stop_this_process,
    truncate, user, wait_for_input,
};
pub use program::{
    EndedProgram, ProgramBounds, ProgramCommand, ProgramCut, run_bounded, run_holding,
};
pub use program_keeper::{is_program_keeper, keep_program, keep_programs};
pub use rustix::process::Signal;
pub use start::{Startable, start};
pub use system::{FileEvents, MarkReader, RunTree, keeps_readers_waiting};
pub use terminal::{Echo, has_terminal, terminal_size};
pub use tree::{children, descendants, signal_descendants};
