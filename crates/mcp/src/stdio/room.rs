//! Limits the requests of a client that are under way at once, by their number and by their bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The number of bytes that the requests under way may hold together.
const MOST_BYTES: u32 = 64 * 1024 * 1024;

/// The number of requests that may be under way at once.
const MOST_REQUESTS: u32 = 256;

/// The time for which reading waits for room. Answers to short requests make room at once. If all
/// requests are long ones, their client must still be able to cancel them.
const WAIT: Duration = Duration::from_secs(1);

/// Room for requests, until they are answered.
#[derive(Clone)]
pub(super) struct Room {
    bytes: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<RequestId, OwnedSemaphorePermit>>>,
}

/// The reason why a request finds no room.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    Full,
    /// Another request with this id is under way.
    Taken,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            bytes: Arc::new(Semaphore::new(MOST_BYTES as usize)),
            taken: Arc::default(),
        }
    }
}

impl NoRoom {
    /// Returns the sentence that the client gets.
    pub(super) fn message(&self) -> String {
        match self {
            Self::Full => format!(
                "Too many requests are under way (at most {MOST_REQUESTS}, and {} MB together). Wait for some answers.",
                MOST_BYTES / 1024 / 1024
            ),
            Self::Taken => "A request with this id is under way.".to_owned(),
        }
    }
}

impl Room {
    /// Takes room for a request of this many bytes, and waits a little if there is none.
    pub(super) async fn take(&self, id: &RequestId, bytes: usize) -> Result<(), NoRoom> {
        if self.taken().contains_key(id) {
            return Err(NoRoom::Taken);
        }
        let bytes = u32::try_from(bytes).unwrap_or(MOST_BYTES);
        let bytes = bytes.clamp(MOST_BYTES / MOST_REQUESTS, MOST_BYTES);
        let permit = Arc::clone(&self.bytes).acquire_many_owned(bytes);
        match timeout(WAIT, permit).await {
            Ok(Ok(permit)) => {
                self.taken().insert(id.clone(), permit);
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(NoRoom::Full),
        }
    }

    /// Gives the room of a request back, because it was answered or will not be.
    pub(super) fn leave(&self, id: &RequestId) {
        self.taken().remove(id);
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<RequestId, OwnedSemaphorePermit>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn there_is_room_for_so_many_requests_and_so_many_bytes() {
        let room = Room::default();
        for id in 0..i64::from(MOST_REQUESTS) {
            assert_eq!(room.take(&RequestId::Number(id), 100).await, Ok(()));
        }
        let next = RequestId::Number(1000);
        assert_eq!(room.take(&next, 100).await, Err(NoRoom::Full));
        room.leave(&RequestId::Number(3));
        assert_eq!(room.take(&next, 100).await, Ok(()));
        assert_eq!(room.take(&next, 100).await, Err(NoRoom::Taken));
        let room = Room::default();
        let large = MOST_BYTES as usize / 2;
        for id in 0..2 {
            assert_eq!(room.take(&RequestId::Number(id), large).await, Ok(()));
        }
        assert_eq!(room.take(&next, 100).await, Err(NoRoom::Full));
    }
}
