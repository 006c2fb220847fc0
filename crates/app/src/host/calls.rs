//! The tool calls of pi that are under way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::wire::{INVALID_PARAMS, RpcError};

/// All calls under way, by pi's id of each.
#[derive(Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<String, Handle>>,
}

struct Handle {
    cancelled: watch::Sender<bool>,
    expanded: Arc<AtomicBool>,
}

/// One call under way; it is over when this is dropped.
pub(super) struct Call {
    pub(super) id: String,
    /// Whether its view shows all lines.
    pub(super) expanded: Arc<AtomicBool>,
    cancelled: watch::Receiver<bool>,
    calls: Arc<Calls>,
}

impl Calls {
    /// Enters a call, before anything else can be said about it.
    pub(super) fn begin(self: &Arc<Self>, id: &str) -> Result<Call, RpcError> {
        let mut open = self.lock();
        if open.contains_key(id) {
            let message = format!("the call {id} is under way already");
            return Err(RpcError::new(INVALID_PARAMS, message));
        }
        let (sender, cancelled) = watch::channel(false);
        let expanded = Arc::<AtomicBool>::default();
        let handle = Handle {
            cancelled: sender,
            expanded: Arc::clone(&expanded),
        };
        open.insert(id.to_owned(), handle);
        Ok(Call {
            id: id.to_owned(),
            expanded,
            cancelled,
            calls: Arc::clone(self),
        })
    }

    /// Nobody wants the answer of this call any more; it may be over already.
    pub(super) fn cancel(&self, id: &str) {
        if let Some(handle) = self.lock().get(id) {
            handle.cancelled.send_replace(true);
        }
    }

    /// Cancels all calls; ends when they are over.
    pub(super) fn end_all(&self) -> impl Future<Output = ()> + Send + 'static {
        let open = self.lock();
        let senders: Vec<_> = open
            .values()
            .map(|handle| handle.cancelled.clone())
            .collect();
        for sender in &senders {
            sender.send_replace(true);
        }
        async move {
            for sender in senders {
                // The call holds the only receivers.
                sender.closed().await;
            }
        }
    }

    pub(super) fn expand(&self, id: &str, expanded: bool) {
        if let Some(handle) = self.lock().get(id) {
            handle.expanded.store(expanded, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Handle>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Ends when nobody wants the answer any more.
    pub(super) fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut cancelled = self.cancelled.clone();
        async move {
            if cancelled
                .wait_for(|is_cancelled| *is_cancelled)
                .await
                .is_err()
            {
                // The call is over; its sender was not dropped for anybody's wish.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}
