//! The options of a worker.

use std::path::PathBuf;
use std::time::Duration;

/// The choices of the person who starts a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerOptions {
    pub name: String,
    pub pools: Vec<String>,
    /// The number of runs that it does at once.
    pub slots: usize,
    /// The rank of the worker. If two workers wait, the one with the lower rank gets a run.
    pub rank: u8,
    /// The directory for its records and workspaces.
    pub root: PathBuf,
    /// The number of bytes that its caches of repositories may take.
    pub disk: u64,
    /// True if it does one run and ends.
    pub is_once: bool,
    /// The time for which it may be without a run before it ends.
    pub idle_exit: Option<Duration>,
    /// The time for which its runs may go on after it was asked to end.
    pub drain: Duration,
    /// The keys of the callers whose orders it takes; if there are none, it takes all.
    pub callers: Vec<String>,
}
