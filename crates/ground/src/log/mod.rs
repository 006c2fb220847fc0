//! The log of this process: its deeds with their times, for a person who reports that it hung.
//!
//! Nothing is logged unless `--log-level` or the variable `PI_SUBAGENTS_LOG` asks for it. Every
//! process writes a file of its own into `<agent directory>/subagents-logs/`, of at most
//! [`LARGEST_LOG`] bytes; files are removed after seven days. The log holds ids, names, counts and
//! durations, never a prompt, an answer, an argument of a tool or a secret. See
//! `docs/design/diagnostics.md`.
//!
//! All crates write to the log with the macros of `tracing`. A Rust program that uses the library
//! has a subscriber of its own: the library installs none.

mod folder;
mod level;
mod lines;
mod parts;
mod run_log;
mod start;

pub use folder::{LOGS, LONGEST_KEPT};
pub use level::{VARIABLE, asked_level, level_parser};
pub use parts::LARGEST_LOG;
pub use run_log::RunLog;
pub use start::{end, start, start_beside};
pub use tracing::level_filters::LevelFilter;
