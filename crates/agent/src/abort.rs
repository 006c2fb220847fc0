//! One switch that stops the work of a run.

use tokio::sync::watch;

/// The side that stops.
#[derive(Debug)]
pub(crate) struct AbortSwitch {
    raised: watch::Sender<bool>,
}

impl AbortSwitch {
    pub(crate) fn new() -> Self {
        Self {
            raised: watch::Sender::new(false),
        }
    }

    /// Stops everyone who watches; they find out at their next await or check.
    pub(crate) fn raise(&self) {
        self.raised.send_replace(true);
    }

    pub(crate) fn watch(&self) -> Aborted {
        Aborted {
            raised: self.raised.subscribe(),
        }
    }
}

/// The side that is stopped; may be asked from any thread.
#[derive(Debug, Clone)]
pub(crate) struct Aborted {
    raised: watch::Receiver<bool>,
}

impl Aborted {
    pub(crate) fn is_raised(&self) -> bool {
        *self.raised.borrow()
    }

    /// Resolves when the switch is raised, or at once if it already was.
    pub(crate) async fn raised(&self) {
        let mut raised = self.raised.clone();
        if raised.wait_for(|raised| *raised).await.is_err() {
            // The run that owned the switch is over, so nobody can raise it any more.
            std::future::pending::<()>().await;
        }
    }
}
