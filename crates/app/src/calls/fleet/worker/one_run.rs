//! One run on this worker, from its delivery to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_delegation::{Ending, Interruption, Plan, PlannedTask, RunId, RunSummary};
use pi_subagents_fleet::wire::{Ended, Order, Workspace};
use pi_subagents_fleet::{
    Claim, Delivery, Fleet, FleetError, Held, Kept, Requests, Standing, Terms,
};
use pi_subagents_sessions::RunDir;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::bundled::BundledWorkspace;
use super::copy_out::CopyOut;
use super::options::WorkerOptions;
use super::told::{ended, named, not_begun, tell, took};
use super::workplace::{Workplace, own_directory};
use super::{end, given_order, requests};
use crate::calls::Call as _;
use crate::calls::caller::Caller;
use crate::calls::families::delegation::DelegateCall;
use crate::calls::open_run::Opening;
use crate::calls::owner::Owner;
use crate::calls::resolve::NotHere;
use crate::configuration::Configuration;

/// How long a run that this machine cannot do is left to others.
const TO_OTHERS: Duration = Duration::from_secs(5);

/// How many deliveries of a run that nobody can do there are before it is refused.
const REFUSED_AT: u64 = 3;

/// How long the record of a run that is over is kept for a caller that has not copied it.
const KEPT: Duration = Duration::from_hours(1);

/// How often is looked whether the caller has it.
const LOOK: Duration = Duration::from_secs(5);

/// A worker, for all its runs.
pub(super) struct Worker {
    pub(super) fleet: Fleet,
    pub(super) owner: Arc<Owner>,
    pub(super) options: WorkerOptions,
    pub(super) caller: Caller,
    pub(super) configuration: Configuration,
    /// Whether what is left is given back now.
    pub(super) leaves: watch::Sender<bool>,
}

/// A run that can begin.
struct Prepared {
    planned: PlannedTask,
    /// Its clone, if its files travelled as git objects.
    clone: Option<BundledWorkspace>,
    /// Its directory goes with this.
    _workplace: Workplace,
}

/// How the engine's part of a run came out.
enum Done {
    /// It is over, and the worker says how where the engine cannot know it.
    Over {
        outcomes: Vec<Arc<RunSummary>>,
        because: Option<Ending>,
    },
    /// Another worker has it, or may have it soon.
    Lost,
    /// This worker leaves before the run was over.
    Left,
}

impl Worker {
    /// Does what a delivery asks for.
    pub(super) async fn serve(self: Arc<Self>, delivery: Delivery) {
        let run = delivery.run().clone();
        if let Err(error) = self.take(delivery).await {
            tell(&format!("{run} could not be done now: {error}"));
        }
    }

    async fn take(self: &Arc<Self>, delivery: Delivery) -> Result<(), FleetError> {
        let order = given_order::read(&self.fleet, &delivery, &self.options.callers).await;
        let order = match order {
            Ok(order) => order,
            Err(message) => return self.refuse(delivery, message).await,
        };
        if let Err(why) = self.can_do(&order).await {
            let message = why.refusal().message;
            if matches!(why, NotHere::Missing(_)) && delivery.n() < REFUSED_AT {
                tell(&format!("left {} to others: {message}", order.run));
                return delivery.give_back(TO_OTHERS).await;
            }
            return self.refuse(delivery, message).await;
        }
        let terms = Terms {
            retries: order.retries,
            call: order.lease.clone(),
        };
        match delivery.claim(&self.options.name, &terms).await? {
            Claim::Mine(held) => self.hold(held, order).await,
            Claim::GaveUp(why, held) => {
                tell(&not_begun(&order, &why));
                held.end(end::unbegun(&end::given_up(&why))).await.map(drop)
            }
            Claim::Ended | Claim::NotMine => Ok(()),
        }
    }

    /// Ends a run that cannot be done, with the reason.
    async fn refuse(&self, delivery: Delivery, message: String) -> Result<(), FleetError> {
        let run = delivery.run().clone();
        let claim = delivery
            .claim(&self.options.name, &Terms::default())
            .await?;
        if let Claim::Mine(held) | Claim::GaveUp(_, held) = claim {
            tell(&format!("refused {run}: {message}"));
            held.end(end::unbegun(&Ending::Refused { message })).await?;
        }
        Ok(())
    }

    /// Returns why this machine cannot do an order, if it cannot.
    async fn can_do(self: &Arc<Self>, order: &Order) -> Result<(), NotHere> {
        let (worker, order) = (Arc::clone(self), order.clone());
        let resolved = spawn_blocking(move || {
            let opening = worker.opening();
            opening.resolver.resolve_order(&order).map(drop)
        });
        resolved.await.unwrap_or_else(|error| Err(panicked(&error)))
    }

    fn opening(&self) -> Opening<'_> {
        let asked_by = (&self.caller, &self.configuration);
        Opening::new(DelegateCall::FAMILY, asked_by, &self.owner)
    }

    async fn hold(self: &Arc<Self>, held: Held, order: Order) -> Result<(), FleetError> {
        tell(&took(&order, held.attempt()));
        let prepared = match self.make_clone(&order, held.n()).await {
            Ok(clone) => {
                let (worker, ordered, n) = (Arc::clone(self), order.clone(), held.n());
                let prepared = spawn_blocking(move || worker.prepare(&ordered, n, clone)).await;
                prepared.unwrap_or_else(|error| Err(panicked(&error)))
            }
            Err(why) => Err(why),
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                let ending = Ending::Refused {
                    message: why.refusal().message,
                };
                tell(&ended(&order, &ending, &RunSummary::default()));
                return held.end(end::unbegun(&ending)).await.map(drop);
            }
        };
        if held.begin().await? == Kept::Fenced {
            tell(&lost(&order));
            return Ok(());
        }
        self.run(held, order, prepared).await
    }

    /// Gives a run its directory, its files and its plan on this machine. Each delivery has a run id
    /// of its own here, so two workers on one machine do not meet.
    fn prepare(
        &self,
        order: &Order,
        n: u64,
        clone: Option<BundledWorkspace>,
    ) -> Result<Prepared, NotHere> {
        let (local, id) = local_id(order, n)?;
        let workplace = Workplace::prepare(&self.options.root, order, &id);
        let workplace = workplace.map_err(NotHere::Refused)?;
        let opening = self.opening();
        let work = opening.resolver.resolve_order(order)?;
        let order = Order {
            run: local,
            ..order.clone()
        };
        let planned = opening
            .open_order(&order, workplace.cwd.clone(), work)
            .map_err(|error| NotHere::Refused(error.sentence()))?;
        Ok(Prepared {
            planned,
            clone,
            _workplace: workplace,
        })
    }

    /// Makes the clone of an order whose files travelled as git objects.
    async fn make_clone(&self, order: &Order, n: u64) -> Result<Option<BundledWorkspace>, NotHere> {
        let Workspace::Bundle(bundle) = &order.workspace else {
            return Ok(None);
        };
        let root = &self.options.root;
        let path = own_directory(root, &local_id(order, n)?.1);
        let made = BundledWorkspace::make(&self.fleet, root, bundle, path).await;
        made.map(Some).map_err(NotHere::Refused)
    }

    async fn run(
        self: &Arc<Self>,
        held: Held,
        order: Order,
        prepared: Prepared,
    ) -> Result<(), FleetError> {
        let task = Arc::clone(&prepared.planned.task);
        let directory = task.directory.clone().unwrap_or_default();
        let mut asked = match self.fleet.hear_run(held.run()).await {
            Ok(asked) => Some(asked),
            Err(error) => {
                warn!(run = %held.run(), %error, "nobody can ask for this run");
                None
            }
        };
        let copy = CopyOut::start(&self.fleet, held.run(), held.n(), &directory);
        let plan = Plan {
            tasks: vec![prepared.planned],
        };
        let done = self
            .until_over(plan, &task.run, &held, &copy, &mut asked)
            .await;
        let (outcomes, because) = match done {
            Done::Over { outcomes, because } => (outcomes, because),
            Done::Lost => {
                tell(&lost(&order));
                return Ok(());
            }
            Done::Left => {
                tell(&format!("gave back {}", named(&order)));
                return held.release().await.map(drop);
            }
        };
        let summary = outcomes.first().cloned().unwrap_or_default();
        let ending = because.or_else(|| summary.ending.clone());
        let ending = ending.unwrap_or_else(|| Ending::Lost {
            reason: "its worker does not know how it ended".to_owned(),
        });
        let result = match &prepared.clone {
            Some(clone) => clone.send_result(&self.fleet, held.run(), held.n()).await,
            None => Ok(None),
        };
        let result = result.unwrap_or_else(|error| {
            let note = format!("what this run changed is lost: {error}");
            tell(&format!("{}: {note}", order.run));
            // The caller reads it in the record; if it cannot be written, our own words are left.
            _ = RunDir::new(&directory).warn(&note);
            None
        });
        let Some(files) = finished(&copy, &held).await else {
            tell(&lost(&order));
            return Ok(());
        };
        let entry = Ended {
            result,
            ..end::entry(&ending, summary.usage, files)
        };
        match held.end(entry).await? {
            Kept::Done => tell(&ended(&order, &ending, &summary)),
            Kept::Fenced => {
                tell(&lost(&order));
                return Ok(());
            }
        }
        let (worker, run) = (Arc::clone(self), held.run().clone());
        tokio::spawn(async move { worker.keep(run, copy, asked).await });
        Ok(())
    }

    /// Runs a plan until it is over, and does meanwhile what others want of it.
    async fn until_over(
        &self,
        plan: Plan,
        local: &RunId,
        held: &Held,
        copy: &CopyOut,
        asked: &mut Option<Requests>,
    ) -> Done {
        let mut standing = held.standing();
        let mut leaves = self.leaves.subscribe();
        let mut because = None;
        let work = self.owner.run(plan, Vec::new());
        tokio::pin!(work);
        loop {
            tokio::select! {
                outcomes = &mut work => return Done::Over { outcomes, because },
                request = next_request(asked) => {
                    requests::answer(&self.owner, local, copy, request).await;
                }
                Ok(()) = standing.changed() => {
                    let now = standing.borrow_and_update().clone();
                    debug!(run = %held.run(), ?now, "standing of a run has changed");
                    match now {
                        Standing::Good => {}
                        Standing::StopWished { .. } => self.owner.stop(std::slice::from_ref(local)),
                        Standing::CallerGone => {
                            because = Some(Ending::Interrupted(Interruption::OwnerGone));
                            self.owner.stop(std::slice::from_ref(local));
                        }
                        Standing::TimeOver | Standing::Fenced => {
                            copy.stop();
                            self.owner.stop(std::slice::from_ref(local));
                            work.await;
                            return Done::Lost;
                        }
                    }
                }
                () = told_to_leave(&mut leaves) => {
                    // Its last words are not those of the run, which another worker begins again.
                    copy.stop();
                    self.owner.stop(std::slice::from_ref(local));
                    work.await;
                    return Done::Left;
                }
            }
        }
    }

    /// Keeps the record of a run that is over until its caller has copied it, then removes it.
    async fn keep(&self, run: RunId, copy: CopyOut, mut asked: Option<Requests>) {
        let kept = async {
            loop {
                tokio::select! {
                    request = next_request(&mut asked) => {
                        requests::answer_over(&run, &copy, request).await;
                    }
                    () = sleep(LOOK) => {
                        let wish = self.fleet.wish(&run).await;
                        if matches!(wish, Ok(Some(wish)) if wish.value.kept) {
                            return;
                        }
                    }
                }
            }
        };
        // Whoever comes later finds the record in the stream, for as long as the fleet keeps it.
        _ = timeout(KEPT, kept).await;
        copy.remove();
    }
}

/// Returns the id of a delivery on this machine, as text and as an id.
fn local_id(order: &Order, n: u64) -> Result<(String, RunId), NotHere> {
    let local = format!("{}-{n}", order.run);
    let id = RunId::parse(&local).map_err(|error| NotHere::Refused(error.to_string()))?;
    Ok((local, id))
}

/// Waits until the fleet has the whole record of a run; `None` if the run is lost meanwhile.
async fn finished(copy: &CopyOut, held: &Held) -> Option<BTreeMap<String, u64>> {
    let mut standing = held.standing();
    tokio::select! {
        files = copy.finish() => match files {
            Ok(files) => Some(files),
            Err(error) => {
                warn!(run = %held.run(), %error, "record of a run stays incomplete");
                Some(copy.lengths())
            }
        },
        Ok(_) = standing.wait_for(Standing::is_lost) => None,
    }
}

async fn next_request(asked: &mut Option<Requests>) -> pi_subagents_fleet::Request {
    let request = match asked {
        Some(asked) => asked.next().await,
        None => None,
    };
    match request {
        Some(request) => request,
        // No more can come.
        None => std::future::pending().await,
    }
}

async fn told_to_leave(leaves: &mut watch::Receiver<bool>) {
    if leaves.wait_for(|leaves| *leaves).await.is_err() {
        // The worker lives longer than its runs.
        std::future::pending::<()>().await;
    }
}

fn lost(order: &Order) -> String {
    format!(
        "lost {}: the fleet has given it to another worker, or will",
        named(order)
    )
}

fn panicked(error: &dyn std::error::Error) -> NotHere {
    NotHere::Refused(format!("this is a bug in pi-subagents: {error}"))
}
