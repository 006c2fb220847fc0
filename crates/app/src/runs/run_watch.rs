//! Waits for the ends of runs that belong to other processes: by what happens to their files, and
//! by the end of their owners. Nothing is looked at again and again.

use std::path::Path;
use std::sync::Arc;

use pi_subagents_sessions::{RecordedRun, RunDir};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::runs::changes::{Changes, owner_gone};

/// One set of file events for all runs: a user may have few of them.
pub(crate) struct RunWatch {
    changes: Option<Arc<Changes>>,
    /// Something has happened to a run.
    news: watch::Sender<()>,
    pump: Option<JoinHandle<()>>,
}

impl RunWatch {
    /// Without file events the ends of owners are still seen.
    pub(crate) fn start() -> Self {
        let changes = Changes::new().ok().map(Arc::new);
        let news = watch::Sender::new(());
        let pump = changes.clone().map(|changes| {
            let news = news.clone();
            tokio::spawn(async move {
                loop {
                    changes.next().await;
                    news.send_replace(());
                }
            })
        });
        Self {
            changes,
            news,
            pump,
        }
    }

    /// Waits until the run has a result, or has nobody left who could write one.
    pub(crate) fn over(&self, directory: RunDir) -> impl Future<Output = ()> + Send + 'static {
        // Before the first look, so that nothing happens unseen in between.
        self.watch(directory.path());
        let mut news = self.news.subscribe();
        async move {
            let Ok(run) = RecordedRun::read(&directory) else {
                return;
            };
            let gone = owner_gone(&run.owner);
            tokio::pin!(gone);
            while !directory.result().exists() {
                tokio::select! {
                    Ok(()) = news.changed() => {}
                    () = &mut gone => return,
                }
            }
        }
    }

    fn watch(&self, directory: &Path) {
        if let Some(changes) = &self.changes {
            // A directory that is gone has nothing to tell, and then its owner has.
            _ = changes.watch_for_new(directory);
        }
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        if let Some(pump) = &self.pump {
            pump.abort();
        }
    }
}
