//! # pi-subagents
//!
//! Run coding sub-agents in parallel from a Rust program. Each task runs in a separate process with
//! its own context, model and tools, and leaves a record on disk. The runs use the settings, agents
//! and keys of the command line, and `pi-subagents status`, `attach` and `stop` reach them.
//!
//! ```toml
//! [dependencies]
//! pi-subagents = { git = "https://github.com/pi-subagents/pi-subagents" }
//! tokio = { version = "1", features = ["macros", "rt"] }
//! ```
//!
//! **The program `pi-subagents` is needed too.** Sub-agents and their supervisors are processes of
//! it. It is named by [`TeamOptions::binary`] or `PI_SUBAGENTS_BIN`, or found on `PATH`. Without it
//! [`Team::open`] fails before anything starts. The crate works on Linux only.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use pi_subagents::{Task, Team, TeamError, TeamOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), TeamError> {
//! let team = Team::open(TeamOptions::new().model("sonnet")).await?;
//! let bugs = Task::new("bugs", "Name each bug in src with file and line.");
//! let tests = Task::new("tests", "Name each case that no test covers.");
//! let tasks = [bugs, tests].map(|task| task.timeout(Duration::from_mins(10)));
//! for outcome in team.delegate(tasks, Vec::new()).await?.outcomes {
//!     let report = outcome.report;
//!     println!("{}: {:?} {:?}", report.name, report.status, report.output);
//! }
//! team.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Team::delegate`] returns when all its tasks have ended. A task that fails has an [`Outcome`]
//!   that says so. An error means that nothing was started.
//! - If its future is dropped, the runs of that call are stopped. [`Team::close`] stops all others.
//! - When the process ends in any way, also by a panic or `SIGKILL`, all its sub-agents end.
//! - An [`EventSink`] gets every event. The types of events are those of [`vocabulary`].
//!
//! - [`TeamOptions::host_tools`] gives sub-agents functions of the program as tools.
//!
//! `examples/team.rs` is a whole program, `examples/merge.rs` merges what isolated sub-agents changed,
//! and `examples/host_tools.rs` gives them a function.

pub use pi_subagents_team::{
    ChangedFile, Clash, Conflict, Delegated, ForEach, HostTools, MergeCheck, MergeOutcome, Merged,
    Outcome, Task, TaskWorkspace, TaskWorkspaceState, Team, TeamError, TeamErrorKind, TeamOptions,
    schemars,
};
pub use pi_subagents_vocabulary as vocabulary;
pub use pi_subagents_vocabulary::{
    Definition, Ending, EventSink, RunEvent, RunId, RunReport, RunSummary, RunnerChoice, SessionId,
    Status, Usage,
};
