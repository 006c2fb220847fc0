//! The child of a run on this machine: it runs until it is over, and what it leaves goes to the
//! fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use pi_subagents_fleet_queue::wire::{Ended, Order};
use pi_subagents_fleet_queue::{FleetError, Held, Kept, Requests, Standing};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{Ending, Interruption, Plan, RunId, RunSummary};
use tokio::sync::watch;
use tracing::{debug, warn};

use super::copy_out::CopyOut;
use super::end;
use super::one_run::Worker;
use super::prepared::Prepared;
use super::requests::{self, next_request};
use super::sent_changes::SentResult;
use super::speaker::Speaker;
use super::told::{ended, lost, named, not_sent, tell};
use super::unsent::LeftChanges;

/// The outcome of the engine's part of a run.
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
    /// Runs the child of a run and ends the run, unless it is not this worker's any more.
    pub(super) async fn run(
        self: &Arc<Self>,
        held: Held,
        order: Order,
        mut prepared: Prepared,
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
        let speaker = Speaker::new(&self.fleet, &self.owner, held.run(), &task.run);
        let plan = Plan {
            tasks: vec![prepared.planned],
        };
        let done = self
            .until_over(plan, &task.run, &held, (&copy, &speaker), &mut asked)
            .await;
        drop(speaker);
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
        let left = match &prepared.clone {
            Some(clone) => {
                self.send_changes(clone, &mut prepared.workplace, &held)
                    .await
            }
            None => LeftChanges::Sent(SentResult::default()),
        };
        let unsent = left.unsent();
        if let Some(unsent) = &unsent {
            tell(&not_sent(&order, unsent));
        }
        let (result, kept) = match left {
            LeftChanges::Sent(result) => (result, None),
            LeftChanges::Kept { changes, .. } => (SentResult::default(), changes),
            LeftChanges::Lost(_) => (SentResult::default(), None),
        };
        let session = match &prepared.conversation {
            Some(one) => one.save(&self.fleet, &held, &RunDir::new(&directory)).await,
            None => None,
        };
        let Some(files) = finished(&copy, &held).await else {
            tell(&lost(&order));
            if let Some(kept) = kept {
                kept.remove();
            }
            return Ok(());
        };
        let entry = Ended {
            result: result.project,
            submodules: result.submodules,
            unsent,
            session: session.clone(),
            unrecorded: end::unrecorded(self.owner.recorder.take_problems(&task.run), &summary),
            ..end::entry(&ending, summary.usage, files)
        };
        match held.end(entry).await? {
            Kept::Done => tell(&ended(&order, &ending, &summary)),
            Kept::Fenced => {
                tell(&lost(&order));
                // Another worker has the run now, and makes changes of its own.
                if let Some(kept) = kept {
                    kept.remove();
                }
                return Ok(());
            }
        }
        if let Some(kept) = kept {
            tokio::spawn(Arc::clone(self).send_later(kept));
        }
        if let Some(conversation) = prepared.conversation {
            conversation.give_back(session).await;
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
        (copy, speaker): (&CopyOut, &Speaker),
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
                    requests::answer(&self.owner, local, (copy, speaker), request).await;
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

async fn told_to_leave(leaves: &mut watch::Receiver<bool>) {
    if leaves.wait_for(|leaves| *leaves).await.is_err() {
        // The worker lives longer than its runs.
        std::future::pending::<()>().await;
    }
}
