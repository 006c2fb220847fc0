//! The tool calls of pi that are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::wire::{INVALID_PARAMS, RpcError};
use pi_subagents_calls::watch::CallLook;

/// All calls under way, by pi's id of each.
#[derive(Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<String, Handle>>,
}

struct Handle {
    cancelled: watch::Sender<bool>,
    look: Arc<CallLook>,
}

/// One call under way; it is over when this is dropped.
pub(super) struct Call {
    pub(super) id: String,
    /// The look of its view.
    pub(super) look: Arc<CallLook>,
    cancelled: watch::Receiver<bool>,
    calls: Arc<Calls>,
}

impl Calls {
    /// Enters a call, before any message about it can come.
    pub(super) fn begin(self: &Arc<Self>, id: &str) -> Result<Call, RpcError> {
        let mut open = self.lock();
        if open.contains_key(id) {
            let message = format!("the call {id} is already running");
            return Err(RpcError::new(INVALID_PARAMS, message));
        }
        let (sender, cancelled) = watch::channel(false);
        let look = Arc::<CallLook>::default();
        let handle = Handle {
            cancelled: sender,
            look: Arc::clone(&look),
        };
        open.insert(id.to_owned(), handle);
        Ok(Call {
            id: id.to_owned(),
            look,
            cancelled,
            calls: Arc::clone(self),
        })
    }

    /// Cancels a call, which may be over already.
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

    /// Takes how the view of a call looks now.
    pub(super) fn look(&self, id: &str, expanded: bool, columns: Option<usize>) {
        if let Some(handle) = self.lock().get(id) {
            handle.look.set(expanded, columns);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Handle>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Becomes ready when nobody wants the answer any more.
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
