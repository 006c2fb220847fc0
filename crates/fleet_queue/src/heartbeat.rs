//! The signs of life of a worker for one message. They begin when the message arrives, before
//! anything else is done with it, and go on until the holder lets go.
//!
//! Two tasks are at work. One sends our sign to the server and looks at the run's entry; it may
//! hang with its requests. The other only looks at the clock, so that a worker that is cut off
//! stops in time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::RunId;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::lease::{Holder, Lease, Looks};
use crate::wire::RunEntry;

/// The standing of a holder: whether the run is still its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standing {
    /// The run is its own.
    #[default]
    Good,
    /// Somebody wants the run to be stopped. The run is still its own, to end it.
    StopWished {
        /// The person who wants it.
        by: String,
    },
    /// Nobody waits for the run any more. The run is still its own, to end it.
    CallerGone,
    /// The fleet was silent for such a time that the child must be stopped now: another worker may
    /// begin soon.
    TimeOver,
    /// Another worker has the run, or it has ended: nothing may be written any more.
    Fenced,
}

impl Standing {
    /// Returns whether the run is no longer the holder's.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::TimeOver | Self::Fenced)
    }
}

/// The run that is looked at with each beat, once it was claimed.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    pub(crate) run: RunId,
    pub(crate) worker: String,
    pub(crate) n: u64,
    /// The call whose caller waits for the run.
    pub(crate) call: Option<String>,
}

/// The heartbeat of one message; it stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

#[derive(Debug)]
struct Shared {
    fleet: Fleet,
    /// The subject to which the signs go.
    subject: String,
    lease: Lease,
    /// The time at which the last confirmed sign was sent, in milliseconds since the machine was
    /// started.
    confirmed: AtomicU64,
    watched: Mutex<Option<Watched>>,
    standing: watch::Sender<Standing>,
}

impl Heartbeat {
    /// Begins to beat, with a first sign soon.
    pub(crate) fn begin(fleet: Fleet, subject: String, lease: Lease) -> Self {
        let shared = Arc::new(Shared {
            fleet,
            subject,
            lease,
            confirmed: AtomicU64::new(milliseconds(System::since_boot())),
            watched: Mutex::new(None),
            standing: watch::Sender::default(),
        });
        let tasks = [
            tokio::spawn(Arc::clone(&shared).beat()),
            tokio::spawn(Arc::clone(&shared).watch_the_clock()),
        ];
        Self { shared, tasks }
    }

    /// Looks at a run from now on.
    pub(crate) fn watch_run(&self, watched: Watched) {
        *self
            .shared
            .watched
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(watched);
    }

    /// Looks whether the run shall still be done, and returns the standing of its holder after that.
    pub(crate) async fn look_for_wishes(&self) -> Standing {
        if let Some(watched) = self.shared.watched() {
            self.shared.look_for_wishes(&watched).await;
        }
        self.shared.standing.borrow().clone()
    }

    /// Returns the standing of the holder, with its changes. The standing of this moment counts as
    /// a change that was not seen yet: it may have turned while the run was being prepared, and it
    /// turns only once.
    pub(crate) fn standing(&self) -> watch::Receiver<Standing> {
        let mut standing = self.shared.standing.subscribe();
        standing.mark_changed();
        standing
    }

    /// Notes that the run is lost.
    pub(crate) fn fence(&self) {
        self.shared.turn(Standing::Fenced);
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    async fn beat(self: Arc<Self>) {
        let mut looks = Looks::default();
        // A run that is over at once needs no sign.
        sleep(self.lease.first_beat()).await;
        while !self.standing.borrow().is_lost() {
            let sent = System::since_boot();
            if self.renew_entry().await.is_ok() {
                self.confirmed.store(milliseconds(sent), Ordering::SeqCst);
            }
            if let Some(watched) = self.watched() {
                self.look(&watched, &mut looks).await;
            }
            let next = sent + self.lease.beat();
            sleep(next.saturating_sub(System::since_boot())).await;
        }
    }

    fn watched(&self) -> Option<Watched> {
        let watched = self.watched.lock();
        watched.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends our sign to the server. It is a request, because a sign without a confirmation proves
    /// nothing.
    async fn renew_entry(&self) -> Result<(), FleetError> {
        let sign = Bytes::from_static(b"+WPI");
        let within = self.lease.beat();
        self.fleet
            .ask_within(&self.subject, None, sign, within)
            .await
            .map(drop)
    }

    async fn look(&self, watched: &Watched, looks: &mut Looks) {
        let holder = Holder {
            worker: &watched.worker,
            n: watched.n,
        };
        // A look that fails proves nothing.
        if let Ok(seen) = self.fleet.entry(&watched.run).await {
            let entry: Option<&RunEntry> = seen.as_ref().map(|stored| &stored.value);
            if looks.is_fenced(holder.sees(entry)) {
                self.turn(Standing::Fenced);
                return;
            }
        }
        self.look_for_wishes(watched).await;
    }

    /// Looks whether somebody wants the run to be stopped, and whether anybody still waits for it.
    async fn look_for_wishes(&self, watched: &Watched) {
        if let Ok(Some(stop)) = self.fleet.stop_wish(&watched.run).await {
            self.turn(Standing::StopWished { by: stop.by });
        } else if let Some(call) = &watched.call
            && let Ok(true) = self.fleet.is_caller_gone(call).await
        {
            self.turn(Standing::CallerGone);
        }
    }

    async fn watch_the_clock(self: Arc<Self>) {
        let tick = (self.lease.length / 40).min(Duration::from_secs(1));
        while !self.standing.borrow().is_lost() {
            let confirmed = Duration::from_millis(self.confirmed.load(Ordering::SeqCst));
            if self
                .lease
                .is_over(System::since_boot().saturating_sub(confirmed))
            {
                self.turn(Standing::TimeOver);
            }
            sleep(tick).await;
        }
    }

    /// Notes a standing. A run that is lost stays lost.
    fn turn(&self, to: Standing) {
        self.standing.send_if_modified(|standing| {
            let is_worse = match standing {
                Standing::Fenced => false,
                Standing::TimeOver => to == Standing::Fenced,
                Standing::Good | Standing::StopWished { .. } | Standing::CallerGone => {
                    *standing != to && (to.is_lost() || *standing == Standing::Good)
                }
            };
            if is_worse {
                *standing = to;
            }
            is_worse
        });
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
