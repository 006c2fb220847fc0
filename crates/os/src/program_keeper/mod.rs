//! # The keeper of programs
//!
//! A small process between this one and the programs that it runs to their end, such as git. It is a
//! subreaper, so the processes that a program leaves behind become the keeper's own. It ends them
//! when the program has exited, when its owner wants that, and when its owner is gone in any way.
//!
//! A keeper serves one program after another, so that an owner pays for one start and not for one
//! per command. A thread that finds all keepers busy starts one more.

mod life;
mod link;
mod order;

pub use life::keep_program;
pub(crate) use link::KeptProgram;
pub use link::{is_program_keeper, keep_programs};
