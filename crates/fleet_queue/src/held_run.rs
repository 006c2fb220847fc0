//! A run that this worker holds: it begins the run, ends it once, or gives it back.

use std::time::Duration;

use jiff::Timestamp;
use pi_subagents_vocabulary::RunId;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep};

use crate::claim::{GiveUp, Taking};
use crate::connect::Fleet;
use crate::delivery::{Delivery, acknowledge, give_back};
use crate::ending::{Next, after_look};
use crate::error::FleetError;
use crate::heartbeat::Standing;
use crate::lease::Holder;
use crate::names::run_key;
use crate::runs::json;
use crate::steps::{Step, reached};
use crate::store::Written;
use crate::wire::{Ended, LeftBy, Released, RunEntry, Running, SeenEntry};

/// The time for which we try to write an entry while the servers do not answer. Nobody can take the
/// run meanwhile, so waiting costs nothing but a place of this worker. The end of work that is done
/// has no such bound.
const PATIENCE: Duration = Duration::from_mins(10);

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// The number of times that a write may come too late although the entry that is read is still
/// ours, or older. A server that lags behind catches up meanwhile; a server that lost its disk
/// never does.
const LATE_AT_MOST: u32 = 50;

/// A claimed run. Dropping it lets the run go without a word, and another worker takes it after the
/// lease.
#[derive(Debug)]
pub struct Held {
    delivery: Delivery,
    worker: String,
    attempt: u32,
    losses: u32,
    left_by: LeftBy,
    last: Mutex<LastWrite>,
}

/// Our last write to the entry.
#[derive(Debug)]
struct LastWrite {
    revision: u64,
    /// The connection that it went over. A server that lost its disk was away in between, and
    /// counts revisions from the beginning: the entry of another worker may have the revision of
    /// ours.
    connection: u64,
}

/// The bound of a write that fails again and again.
#[derive(Debug, Clone, Copy)]
enum Tries {
    /// It is tried for this time, as long as the failure passes by itself.
    For(Duration),
    /// It is tried until the servers answer and have room.
    UntilAnswered,
}

impl Tries {
    fn go_on(self, failure: &FleetError, since: Duration) -> bool {
        match self {
            Self::For(time) => failure.is_passing() && since < time,
            Self::UntilAnswered => failure.is_passing() || failure.is_full(),
        }
    }
}

/// The outcome of a write of the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is written.
    Done,
    /// The run is not ours any more: stop the child, and write nothing.
    Fenced,
}

/// The outcome of the last look before the child is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The child may be started.
    Begins,
    /// The run is ours to end, for this reason.
    GaveUp(GiveUp),
    /// The run is not ours any more.
    Lost,
}

impl Held {
    pub(crate) fn new(delivery: Delivery, worker: &str, taking: &Taking, revision: u64) -> Self {
        let connection = delivery.fleet.connection_number();
        Self {
            delivery,
            worker: worker.to_owned(),
            attempt: taking.attempt,
            losses: taking.losses,
            left_by: taking.left_by.clone(),
            last: Mutex::new(LastWrite {
                revision,
                connection,
            }),
        }
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.delivery.run
    }

    /// Returns the number of the delivery, which is part of the names of the run's results.
    pub fn n(&self) -> u64 {
        self.delivery.n
    }

    /// Returns the pool that the run came through.
    pub fn pool(&self) -> &str {
        self.delivery.pool()
    }

    /// Returns the workers that could not do the run and left it to others, with their reasons.
    pub fn left_by(&self) -> &LeftBy {
        &self.left_by
    }

    /// Returns which attempt this is; the first is 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the name of the message, with which the next process of a worker that is killed can
    /// give the run back.
    pub fn message(&self) -> &str {
        &self.delivery.ack
    }

    /// Returns the standing of the holder, with its changes; the first of them is the standing of
    /// this moment.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.delivery.heartbeat.standing()
    }

    /// Notes that the child is about to be started: from here on the attempt counts. At the same
    /// moment it looks whether the run shall still be done, because a lot may have happened while
    /// everything was made ready.
    pub async fn begin(&self) -> Result<Begun, FleetError> {
        let entry = RunEntry::Running(Running {
            worker: self.worker.clone(),
            n: self.n(),
            since: Timestamp::now().to_string(),
            attempt: self.attempt,
            begun: true,
            losses: self.losses,
            left_by: self.left_by.clone(),
        });
        let (kept, standing) = tokio::join!(
            self.write(&entry, Tries::For(PATIENCE)),
            self.delivery.heartbeat.look_for_wishes()
        );
        let kept = kept?;
        reached(Step::Begun);
        Ok(match (kept, standing) {
            (Kept::Fenced, _) | (Kept::Done, Standing::TimeOver | Standing::Fenced) => Begun::Lost,
            (Kept::Done, Standing::Good) => Begun::Begins,
            (Kept::Done, Standing::StopWished { by }) => Begun::GaveUp(GiveUp::Stopped { by }),
            (Kept::Done, Standing::CallerGone) => Begun::GaveUp(GiveUp::CallerGone),
        })
    }

    /// Ends the run, once and for all, and takes its message out of the queue. The worker, the
    /// delivery and the attempt are filled in here.
    pub async fn end(&self, ended: Ended) -> Result<Kept, FleetError> {
        self.end_within(ended, Tries::For(PATIENCE)).await
    }

    /// Ends a run whose work is done. It tries to until the servers have answered, however long they
    /// are away or full: whoever gives up throws away what was paid for. A caller that must leave
    /// drops the future.
    pub async fn end_done(&self, ended: Ended) -> Result<Kept, FleetError> {
        self.end_within(ended, Tries::UntilAnswered).await
    }

    async fn end_within(&self, ended: Ended, tries: Tries) -> Result<Kept, FleetError> {
        let entry = RunEntry::Ended(Box::new(Ended {
            worker: self.worker.clone(),
            n: self.n(),
            attempt: self.attempt,
            at: Some(Timestamp::now().to_string()),
            ..ended
        }));
        reached(Step::Done);
        let kept = self.write(&entry, tries).await?;
        if kept == Kept::Done {
            reached(Step::Ended);
            acknowledge(&self.delivery.fleet, &self.delivery.ack).await;
            reached(Step::Acknowledged);
        }
        Ok(kept)
    }

    /// Gives the run back, so that another worker takes it at once. The attempt does not count.
    pub async fn release(self) -> Result<Kept, FleetError> {
        let left_by = self.left_by.clone();
        self.give_back(left_by, Duration::ZERO).await
    }

    /// Leaves the run to workers that have not tried it, because this one cannot do it. They get it
    /// after a while, so that this one does not get it first.
    pub async fn leave_to_others(self, why: &str, after: Duration) -> Result<Kept, FleetError> {
        let mut left_by = self.left_by.clone();
        left_by.insert(self.worker.clone(), why.to_owned());
        self.give_back(left_by, after).await
    }

    async fn give_back(self, left_by: LeftBy, after: Duration) -> Result<Kept, FleetError> {
        let entry = RunEntry::Released(Released {
            n: self.n(),
            worker: self.worker.clone(),
            attempt: self.attempt,
            losses: self.losses,
            left_by,
        });
        let kept = self.write(&entry, Tries::For(PATIENCE)).await?;
        if kept == Kept::Done {
            give_back(&self.delivery.fleet, &self.delivery.ack, after).await?;
        }
        Ok(kept)
    }

    /// Writes an entry over our last one, until it is there or the run belongs to another worker.
    async fn write(&self, entry: &RunEntry, tries: Tries) -> Result<Kept, FleetError> {
        let mut last = self.last.lock().await;
        let fleet = &self.delivery.fleet;
        let (bucket, key, value) = (fleet.names().runs(), run_key(self.run()), json(entry));
        let begun = Instant::now();
        let mut late = 0;
        let mut must_look = last.connection != fleet.connection_number();
        loop {
            let mut failure = None;
            if must_look {
                last.connection = fleet.connection_number();
                match self.look(entry, last.revision).await {
                    Ok((Next::Done, now)) => {
                        last.revision = now;
                        return Ok(Kept::Done);
                    }
                    Ok((Next::Fenced, _)) => {
                        self.delivery.heartbeat.fence();
                        return Ok(Kept::Fenced);
                    }
                    Ok((Next::Again { over }, _)) => last.revision = over,
                    Err(error) => failure = Some(error),
                }
            }
            must_look = true;
            if failure.is_none() {
                match fleet
                    .write(&bucket, &key, value.clone(), last.revision)
                    .await
                {
                    Ok(Written::At(now)) => {
                        last.revision = now;
                        return Ok(Kept::Done);
                    }
                    Ok(Written::Late) => late += 1,
                    Err(error) => failure = Some(error),
                }
            }
            if let Some(error) = failure
                && !tries.go_on(&error, begun.elapsed())
            {
                return Err(error);
            }
            if late > LATE_AT_MOST || *self.standing().borrow() == Standing::Fenced {
                self.delivery.heartbeat.fence();
                return Ok(Kept::Fenced);
            }
            sleep(PAUSE).await;
        }
    }

    /// Looks at the entry, and decides the next step.
    async fn look(&self, wanted: &RunEntry, over: u64) -> Result<(Next, u64), FleetError> {
        let seen = self.delivery.fleet.look_at_entry(self.run()).await?;
        if let SeenEntry::Unreadable(why) = &seen.value {
            // Somebody has spoilt it. The holder still knows what it says.
            tracing::warn!(run = %self.run(), why, "entry of a run is written anew");
            let over = seen.revision;
            return Ok((Next::Again { over }, over));
        }
        let entry = seen.value.state().map(|entry| (entry, seen.revision));
        if let Some((RunEntry::Released(_), revision)) = entry
            && entry.is_some_and(|(entry, _)| entry == wanted)
        {
            return Ok((Next::Done, revision));
        }
        let is_done = entry.is_some_and(|(entry, _)| is_begun(entry) && is_begun(wanted));
        let holder = Holder {
            worker: &self.worker,
            n: self.n(),
        };
        let revision = entry.map_or(over, |(_, revision)| revision);
        Ok((after_look(&holder, entry, is_done, over), revision))
    }
}

impl Fleet {
    /// Gives back a run that this worker held with a delivery when its process was killed, so that
    /// it is taken over before the lease is over. Returns false if it has another holder by now, or
    /// has ended. The process must be gone for certain: a worker that is only cut off looks the same
    /// from here. The attempt counts, because the run may be what killed it.
    pub async fn give_back_of_killed(
        &self,
        run: &RunId,
        worker: &str,
        n: u64,
        message: &str,
    ) -> Result<bool, FleetError> {
        let seen = self.entry(run).await?;
        let is_ours = seen.is_some_and(|stored| {
            matches!(stored.value, RunEntry::Running(one) if one.worker == worker && one.n == n)
        });
        if is_ours {
            give_back(self, message, Duration::ZERO).await?;
        }
        Ok(is_ours)
    }
}

fn is_begun(entry: &RunEntry) -> bool {
    matches!(entry, RunEntry::Running(running) if running.begun)
}
