//! The connections that have not shown the token. Any user of this machine can open some, so there
//! are never many: a new one takes the place of the oldest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::connection::Connection;

/// The connections without the token, by their numbers: the lowest is the oldest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strangers(Arc<Mutex<BTreeMap<u64, AbortHandle>>>);

impl Strangers {
    /// Adds a connection that is served already, and closes the oldest if there are too many.
    pub(crate) fn add(&self, connection: &Connection, task: AbortHandle, most: usize) {
        let mut strangers = self.lock();
        // Its first request may have shown the token by now, or it may have ended.
        if connection.is_admitted() || task.is_finished() {
            return;
        }
        strangers.insert(connection.number(), task);
        while strangers.len() > most {
            if let Some((_, oldest)) = strangers.pop_first() {
                oldest.abort();
            }
        }
    }

    /// Forgets a connection, because it has shown the token or has ended.
    pub(crate) fn forget(&self, number: u64) {
        self.lock().remove(&number);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
