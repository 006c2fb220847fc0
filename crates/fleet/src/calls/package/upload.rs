//! One object on its way to a fleet.

use std::path::PathBuf;

use pi_subagents_fleet_queue::{BlobError, Blobs};

/// A file that the fleet may not have yet.
pub(super) struct Upload {
    object: String,
    file: PathBuf,
    pub(super) bytes: u64,
}

impl Upload {
    pub(super) fn of(object: String, file: PathBuf, bytes: u64) -> Self {
        Self {
            object,
            file,
            bytes,
        }
    }

    /// Returns whether the fleet lacks it.
    pub(super) async fn is_missing(&self, blobs: &Blobs) -> Result<bool, BlobError> {
        Ok(blobs.size(&self.object).await?.is_none())
    }

    /// Sends it.
    pub(super) async fn send(&self, blobs: &Blobs) -> Result<(), BlobError> {
        blobs.put(&self.object, &self.file).await.map(drop)
    }
}
