//! The calls under way. The server does not leave before they are over.

use tokio::sync::watch;

/// Counts the calls under way.
#[derive(Clone)]
pub(crate) struct Calls {
    count: watch::Sender<usize>,
}

/// One call under way, as long as it is held.
pub(crate) struct UnderWay {
    count: watch::Sender<usize>,
}

impl Calls {
    pub(crate) fn new() -> Self {
        Self {
            count: watch::Sender::new(0),
        }
    }

    pub(crate) fn begin(&self) -> UnderWay {
        self.count.send_modify(|count| *count += 1);
        UnderWay {
            count: self.count.clone(),
        }
    }

    /// Waits until no call is under way.
    pub(crate) async fn all_over(&self) {
        // It fails only without a sender, and we hold a sender.
        _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}
