//! Limits the requests of a client that have no answer yet, by their number and by their bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of bytes that unanswered requests may have together.
const MOST_BYTES: u32 = 64 * 1024 * 1024;

/// The number of requests that may be unanswered at once.
pub(crate) const MOST_REQUESTS: u32 = 256;

/// Room for requests, until they are answered.
#[derive(Clone)]
pub(crate) struct Room {
    bytes: Arc<Semaphore>,
    taken: Arc<Mutex<HashMap<RequestId, OwnedSemaphorePermit>>>,
}

/// The reason why a request finds no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Too many others wait for their answers.
    Full,
    /// Another request with this id waits for its answer.
    Taken,
}

impl NoRoom {
    /// Returns the sentence that the client gets.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Full => format!(
                "Too many requests have no answer yet (at most {MOST_REQUESTS}, and {} MB together). Wait for some answers.",
                MOST_BYTES / 1024 / 1024
            ),
            Self::Taken => "Another request with this id has no answer yet.".to_owned(),
        }
    }
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Arc::new(Semaphore::new(MOST_BYTES as usize)),
            taken: Arc::default(),
        }
    }

    /// Takes room for a request that was this many bytes long, if there is any.
    pub(crate) fn take(&self, id: &RequestId, bytes: usize) -> Result<(), NoRoom> {
        let mut taken = self.taken();
        if taken.contains_key(id) {
            return Err(NoRoom::Taken);
        }
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(weight(bytes));
        let permit = permit.map_err(|_| NoRoom::Full)?;
        taken.insert(id.clone(), permit);
        Ok(())
    }

    /// Waits until there is room for a request that was this many bytes long.
    pub(crate) async fn wait_for(&self, bytes: usize) {
        // It fails only if somebody closes the semaphore, and nobody does.
        _ = self.bytes.acquire_many(weight(bytes)).await;
    }

    /// Gives the room of a request back, because it was answered or will not be.
    pub(crate) fn leave(&self, id: &RequestId) {
        self.taken().remove(id);
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<RequestId, OwnedSemaphorePermit>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the room that a request takes: a share for every request, and all there is for one that
/// is longer than that.
fn weight(bytes: usize) -> u32 {
    let bytes = u32::try_from(bytes).unwrap_or(MOST_BYTES);
    bytes.clamp(MOST_BYTES / MOST_REQUESTS, MOST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_so_many_requests_and_so_many_bytes() {
        let room = Room::new();
        for id in 0..i64::from(MOST_REQUESTS) {
            assert_eq!(room.take(&RequestId::Number(id), 100), Ok(()));
        }
        let next = RequestId::Number(1000);
        assert_eq!(room.take(&next, 100), Err(NoRoom::Full));
        room.leave(&RequestId::Number(3));
        assert_eq!(room.take(&next, 100), Ok(()));
        assert_eq!(room.take(&next, 100), Err(NoRoom::Taken));
        let room = Room::new();
        let large = MOST_BYTES as usize / 2;
        for id in 0..2 {
            assert_eq!(room.take(&RequestId::Number(id), large), Ok(()));
        }
        assert_eq!(room.take(&next, 100), Err(NoRoom::Full));
    }
}
