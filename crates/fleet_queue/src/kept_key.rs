//! A key that shows that somebody is there. It is written again and again, and vanishes when its
//! writer stops.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::Bucket;

/// The pause after a try to write the key that failed.
const AGAIN: Duration = Duration::from_secs(1);

/// A key that is kept; it vanishes a while after this was dropped.
#[derive(Debug)]
pub(crate) struct KeptKey {
    fleet: Fleet,
    bucket: Bucket,
    key: String,
    value: watch::Sender<Bytes>,
    task: JoinHandle<()>,
}

impl KeptKey {
    /// Writes a key for the first time, and keeps it from then on.
    pub(crate) async fn begin(
        fleet: &Fleet,
        bucket: Bucket,
        key: &str,
        value: Bytes,
        time: Duration,
    ) -> Result<Self, FleetError> {
        fleet.write_for(&bucket, key, value.clone(), time).await?;
        Ok(Self::keep(fleet, bucket, key, value, time))
    }

    /// Keeps a key that was written just now.
    pub(crate) fn keep(
        fleet: &Fleet,
        bucket: Bucket,
        key: &str,
        value: Bytes,
        time: Duration,
    ) -> Self {
        let (sender, values) = watch::channel(value);
        let task = tokio::spawn(keep(
            fleet.clone(),
            bucket.clone(),
            key.to_owned(),
            values,
            time,
        ));
        Self {
            fleet: fleet.clone(),
            bucket,
            key: key.to_owned(),
            value: sender,
            task,
        }
    }

    /// Writes another value, at once.
    pub(crate) fn change(&self, value: Bytes) {
        self.value.send_if_modified(|current| {
            let is_new = *current != value;
            *current = value;
            is_new
        });
    }

    /// Removes the key now.
    pub(crate) async fn end(self) -> Result<(), FleetError> {
        self.task.abort();
        self.fleet.remove(&self.bucket, &self.key).await
    }
}

impl Drop for KeptKey {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep(
    fleet: Fleet,
    bucket: Bucket,
    key: String,
    mut values: watch::Receiver<Bytes>,
    time: Duration,
) {
    let mut pause = time / 3;
    loop {
        // A server that was away may have let the key expire, so it is written as soon as the
        // connection is back. The sender is kept with this task, so that `changed` never fails.
        let woken = async {
            tokio::select! {
                _ = values.changed() => {}
                () = fleet.returned() => {}
            }
        };
        let _ = timeout(pause, woken).await;
        let value = values.borrow_and_update().clone();
        pause = match fleet.write_for(&bucket, &key, value, time).await {
            Ok(()) => time / 3,
            Err(error) => {
                tracing::debug!("fleet: {key} could not be renewed: {error}");
                AGAIN.min(time / 3)
            }
        };
    }
}
