//! A connection, as the handlers of its requests see it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use hyper_util::rt::TokioTimer;

use crate::strangers::Strangers;

/// The further time that a client with the token may take until the head of its next request. It
/// bounds connections that a client has forgotten.
const KNOWN: Duration = Duration::from_secs(90);

/// A connection. It stands in the extensions of every request that comes through it.
#[derive(Debug, Clone)]
pub struct Connection {
    number: u64,
    is_admitted: Arc<AtomicBool>,
    strangers: Strangers,
}

impl Connection {
    pub(crate) fn new(number: u64, strangers: Strangers) -> Self {
        Self {
            number,
            is_admitted: Arc::default(),
            strangers,
        }
    }

    /// Notes that a request of this connection has shown the token. From then on it is not closed
    /// for the sake of others.
    pub fn admit(&self) {
        if !self.is_admitted.swap(true, Ordering::AcqRel) {
            self.forget();
        }
    }

    /// Takes the connection off the list of those that may be closed.
    pub(crate) fn forget(&self) {
        self.strangers.forget(self.number);
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Acquire)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// The clock of a connection: the head of a request must come in time, and those with the token have
/// more of it. hyper asks it whenever it begins to wait for a request.
#[derive(Debug, Clone)]
pub(crate) struct HeadTimer(pub(crate) Connection);

impl Timer for HeadTimer {
    fn now(&self) -> Instant {
        TokioTimer::new().now()
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        TokioTimer::new().sleep(duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        let further = if self.0.is_admitted() {
            KNOWN
        } else {
            Duration::ZERO
        };
        TokioTimer::new().sleep_until(deadline + further)
    }
}
