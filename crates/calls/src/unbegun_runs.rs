//! Runs that are open and have not begun. If nobody begins them, they are closed.

use std::sync::Arc;

use pi_subagents_records::{RunDir, Store};
use pi_subagents_vocabulary::{Ending, Task, Timestamp};
use tracing::debug;

/// The open runs of a call, until they begin. When this is dropped before, because the caller has
/// gone away or another run of the call could not be opened, the runs end as stopped. Otherwise they
/// would be open for as long as this process lives, and nothing would ever happen in them.
pub(crate) struct UnbegunRuns {
    store: Store,
    tasks: Vec<Arc<Task>>,
}

impl UnbegunRuns {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            tasks: Vec::new(),
        }
    }

    /// Takes in a run that was opened.
    pub(crate) fn add(&mut self, task: &Arc<Task>) {
        self.tasks.push(Arc::clone(task));
    }

    /// Lets the runs go, because somebody begins them now.
    pub(crate) fn begin(&mut self) {
        self.tasks.clear();
    }
}

impl Drop for UnbegunRuns {
    fn drop(&mut self) {
        for task in &self.tasks {
            let Some(directory) = &task.directory else {
                continue;
            };
            debug!(run = %task.run, "run is closed before it began");
            // A run that cannot be closed now is closed when this process, its owner, has ended.
            _ = self.store.close_ended(
                &task.run,
                &RunDir::new(directory),
                Ending::Stopped,
                Timestamp::now(),
            );
        }
    }
}
