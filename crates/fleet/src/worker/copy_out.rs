//! Sends the record of a run to the fleet while the run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pi_subagents_files::Directory;
use pi_subagents_fleet_queue::{Fleet, RecordSender, SendError, record_lengths};
use pi_subagents_vocabulary::RunId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::warn;

use pi_subagents_runs::follow::FileChanges;

/// The pause after a file has changed. Everything that is written within it goes out together.
const TOGETHER: Duration = Duration::from_millis(20);

/// The record of a run on its way out. It stops when this is dropped.
pub(super) struct CopyOut {
    orders: mpsc::Sender<CopyOrder>,
    sending: JoinHandle<()>,
    is_stopped: AtomicBool,
    directory: PathBuf,
}

/// The orders for the sender.
enum CopyOrder {
    /// Send everything, and report the length of each file.
    Finish(oneshot::Sender<Result<BTreeMap<String, u64>, SendError>>),
    /// Send a file again from a place on.
    Resend { file: String, at: u64 },
}

impl CopyOut {
    /// Begins to send the files of a run directory.
    pub(super) fn start(fleet: &Fleet, run: &RunId, delivery: u64, directory: &Path) -> Self {
        let sender = RecordSender::new(fleet, run, delivery, directory);
        let files = FileChanges::of_directory(directory);
        let (orders, receiver) = mpsc::channel(8);
        let sending = tokio::spawn(send(sender, files, receiver));
        Self {
            orders,
            sending,
            is_stopped: AtomicBool::new(false),
            directory: directory.to_owned(),
        }
    }

    /// Waits until the fleet has all bytes, and returns how long each file is.
    pub(super) async fn finish(&self) -> Result<BTreeMap<String, u64>, SendError> {
        let (done, sizes) = oneshot::channel();
        // The task lives as long as this does.
        _ = self.orders.send(CopyOrder::Finish(done)).await;
        sizes
            .await
            .unwrap_or_else(|_| Err(SendError::Refused("the sender has ended".to_owned())))
    }

    /// Sends nothing more: files that the run leaves now are not its record.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.sending.abort();
    }

    /// Returns whether nothing is sent any more.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Returns how long each file is on this machine, whether it was sent or not.
    pub(super) fn lengths(&self) -> BTreeMap<String, u64> {
        // A directory that cannot be read counts as one without files.
        let opened = Directory::open_plain(&self.directory);
        opened
            .and_then(|directory| record_lengths(&directory))
            .unwrap_or_default()
    }

    /// Removes the files, which the fleet or the caller has.
    pub(super) fn remove(self) {
        remove_record(&self.directory);
    }

    /// Sends a file again from this byte on, because a reader has lost it.
    pub(super) async fn resend(&self, file: String, at: u64) {
        _ = self.orders.send(CopyOrder::Resend { file, at }).await;
    }
}

/// Removes the record of a run from this machine.
pub(super) fn remove_record(directory: &Path) {
    let removed = match (directory.parent(), directory.file_name()) {
        (Some(above), Some(name)) => {
            Directory::open(above).and_then(|above| above.remove_tree(Path::new(name)))
        }
        (_, _) => Ok(()),
    };
    if let Err(error) = removed {
        warn!(directory = %directory.display(), %error, "record cannot be removed");
    }
}

impl Drop for CopyOut {
    fn drop(&mut self) {
        self.sending.abort();
    }
}

async fn send(mut sender: RecordSender, files: FileChanges, mut orders: mpsc::Receiver<CopyOrder>) {
    loop {
        let order = tokio::select! {
            () = files.next() => {
                sleep(TOGETHER).await;
                None
            }
            order = orders.recv() => match order {
                Some(order) => Some(order),
                None => return,
            },
        };
        if let Some(CopyOrder::Resend { file, at }) = &order {
            sender.resend(file, *at);
        }
        let sent = sender.send_all().await;
        match (order, sent) {
            (Some(CopyOrder::Finish(done)), sent) => {
                // The asker may have been fenced meanwhile.
                _ = done.send(sent.map(|()| sender.sizes()));
            }
            (Some(CopyOrder::Resend { .. }) | None, Ok(())) => {}
            (Some(CopyOrder::Resend { .. }) | None, Err(error)) => {
                warn!(%error, "record cannot be sent");
            }
        }
    }
}
