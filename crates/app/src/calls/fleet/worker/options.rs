//! How a worker works.

use std::path::PathBuf;
use std::time::Duration;

/// The choices of whoever starts a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkerOptions {
    pub(crate) name: String,
    pub(crate) pools: Vec<String>,
    /// How many runs it does at once.
    pub(crate) slots: usize,
    /// Of two workers that wait, the one with the lower rank gets a run.
    pub(crate) rank: u8,
    /// The directory for its records and workspaces.
    pub(crate) root: PathBuf,
    /// How many bytes its caches of repositories may take.
    pub(crate) disk: u64,
    /// Whether it does one run and ends.
    pub(crate) is_once: bool,
    /// How long it may be without a run before it ends.
    pub(crate) idle_exit: Option<Duration>,
    /// How long its runs may go on after it was told to end.
    pub(crate) drain: Duration,
    /// The keys of the callers whose orders it takes; without one it takes all.
    pub(crate) callers: Vec<String>,
}
