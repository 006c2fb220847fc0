//! A hermetic place for a test: its own home, agent directory and project.
//!
//! ```no_run
//! use pi_subagents_testkit::{bin, sandbox::Sandbox};
//!
//! let sandbox = Sandbox::new();
//! sandbox.write("project/notes.txt", "hello");
//! let output = sandbox.command(&bin("pi-subagents")).args(["status"]).run();
//! assert_eq!(output.code, Some(0), "{output}");
//! ```

mod command;
mod directory;
mod leftovers;
mod normalise;
mod output;
mod running_command;

pub use command::SandboxCommand;
pub use directory::Sandbox;
pub use output::CommandOutput;
pub use running_command::RunningCommand;
