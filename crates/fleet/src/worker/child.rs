//! The child of a run on this machine: it runs until it is over, and what it leaves goes to the
//! fleet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_fleet_queue::wire::{Ended, Order, SavedSession};
use pi_subagents_fleet_queue::{FleetError, Held, Kept, Requests, Standing};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{Ending, Interruption, Plan, RunId, RunSummary, Status, Task};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::bundle_workspace::BundledWorkspace;
use super::conversation::HeldConversation;
use super::copy_out::CopyOut;
use super::end;
use super::one_run::Worker;
use super::preparation::Prepared;
use super::requests::{self, next_request};
use super::sent_changes::SentResult;
use super::speaker::Speaker;
use super::unsent_changes::{LeftChanges, UnsentChanges};
use super::worker_lines::{ended, lost, named, not_sent, print_line};
use super::workplace::Workplace;

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

/// The work of a run that is done.
#[derive(Clone, Copy)]
struct DoneWork<'a> {
    order: &'a Order,
    task: &'a Task,
    summary: &'a RunSummary,
    ending: &'a Ending,
}

/// The parts of a run's ground that last longer than its child.
struct UsedGround {
    clone: Option<BundledWorkspace>,
    conversation: Option<HeldConversation>,
    /// Its directory goes with this.
    workplace: Workplace,
}

/// A run that has ended in the fleet.
struct Finished {
    /// Its changes, if they could not be sent yet.
    kept: Option<UnsentChanges>,
    session: Option<SavedSession>,
}

/// The pause before servers that do not answer are asked again.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The time for which a worker that leaves tries to write the ends of runs whose work is done.
const LAST_TRY: Duration = Duration::from_secs(10);

impl Worker {
    /// Runs the child of a run and ends the run, unless it is not this worker's any more.
    pub(super) async fn run(
        self: &Arc<Self>,
        held: Held,
        order: Order,
        prepared: Prepared,
    ) -> Result<(), FleetError> {
        let Prepared {
            planned,
            clone,
            conversation,
            workplace,
        } = prepared;
        let mut used = UsedGround {
            clone,
            conversation,
            workplace,
        };
        let task = Arc::clone(&planned.task);
        let directory = task.directory.clone().unwrap_or_default();
        let mut asked = match self.fleet.subscribe_run(held.run()).await {
            Ok(asked) => Some(asked),
            Err(error) => {
                warn!(run = %held.run(), %error, "nobody can ask for this run");
                None
            }
        };
        let start_copy = || CopyOut::start(&self.fleet, held.run(), held.n(), &directory);
        let mut copy = start_copy();
        let speaker = Speaker::new(&self.fleet, &self.owner, held.run(), &task.run);
        let plan = Plan::of(vec![planned]);
        let done = self
            .until_over(plan, &task.run, &held, &copy, &speaker, &mut asked)
            .await;
        drop(speaker);
        let (outcomes, because) = match done {
            Done::Over { outcomes, because } => (outcomes, because),
            Done::Lost => {
                print_line(&lost(&order));
                return Ok(());
            }
            Done::Left => {
                print_line(&format!("gave back {}", named(&order)));
                return held.release().await.map(drop);
            }
        };
        if copy.is_stopped() {
            copy = start_copy();
        }
        let summary = outcomes.first().cloned().unwrap_or_default();
        let ending = because.or_else(|| summary.ending.clone());
        let ending = ending.unwrap_or_else(|| Ending::Lost {
            reason: "its worker does not know how it ended".to_owned(),
        });
        let work = DoneWork {
            order: &order,
            task: &task,
            summary: &summary,
            ending: &ending,
        };
        let finished = {
            let finishing = self.finish(&held, work, &mut used, &copy);
            self.until_finished(finishing, held.run(), &copy, &mut asked)
                .await
        };
        let Some(finished) = finished else {
            print_line(&format!(
                "could not end {}: this worker leaves, and the servers of the fleet do not answer",
                named(&order)
            ));
            return Ok(());
        };
        let Some(Finished { kept, session }) = finished? else {
            print_line(&lost(&order));
            return Ok(());
        };
        print_line(&ended(&order, &ending, &summary));
        if let Some(kept) = kept {
            tokio::spawn(Arc::clone(self).send_later(kept));
        }
        if let Some(conversation) = used.conversation {
            conversation.give_back(session).await;
        }
        let (worker, run) = (Arc::clone(self), held.run().clone());
        tokio::spawn(async move { worker.keep(run, copy, asked).await });
        Ok(())
    }

    /// Sends what a run has left, and ends it. Its work is done and paid for, so this waits for servers
    /// that are away, also when the lease is over by then: the entry says whether another worker has
    /// the run. Returns none if one has.
    async fn finish(
        &self,
        held: &Held,
        work: DoneWork<'_>,
        used: &mut UsedGround,
        copy: &CopyOut,
    ) -> Result<Option<Finished>, FleetError> {
        self.until_answered(held).await;
        let left = match &used.clone {
            Some(clone) => self.send_changes(clone, &mut used.workplace, held).await,
            None => LeftChanges::Sent(SentResult::default()),
        };
        let unsent = left.unsent();
        if let Some(unsent) = &unsent {
            print_line(&not_sent(work.order, unsent));
        }
        let (result, kept) = match left {
            LeftChanges::Sent(result) => (result, None),
            LeftChanges::Kept { changes, .. } => (SentResult::default(), changes),
            LeftChanges::Lost(_) => (SentResult::default(), None),
        };
        let session = match (&used.conversation, &work.task.directory) {
            (Some(one), Some(directory)) => {
                one.save(&self.fleet, held, &RunDir::new(directory)).await
            }
            (_, _) => None,
        };
        let ended = match sent_record(copy, held).await {
            Some(files) => {
                let problems = self.owner.recorder.take_problems(&work.task.run);
                let entry = Ended {
                    result: result.project,
                    submodules: result.submodules,
                    unsent,
                    session: session.clone(),
                    unrecorded: end::unrecorded(problems, work.summary),
                    ..end::entry(work.ending, work.summary.usage, files)
                };
                held.end_done(entry).await?
            }
            None => Kept::Fenced,
        };
        match ended {
            Kept::Done => Ok(Some(Finished { kept, session })),
            Kept::Fenced => {
                // Another worker has the run now, and makes changes of its own.
                if let Some(kept) = kept {
                    kept.remove();
                }
                Ok(None)
            }
        }
    }

    /// Waits until the servers answer, or another worker has the run.
    async fn until_answered(&self, held: &Held) {
        while let Err(error) = self.fleet.probe().await {
            if !error.is_passing() || *held.standing().borrow() == Standing::Fenced {
                return;
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Waits for the end of a run whose work is done, and answers requests about it meanwhile. Returns
    /// none if this worker leaves before the fleet has answered.
    async fn until_finished<T>(
        &self,
        finishing: impl Future<Output = T>,
        run: &RunId,
        copy: &CopyOut,
        asked: &mut Option<Requests>,
    ) -> Option<T> {
        let mut leaves = self.leaves.subscribe();
        let left = async {
            leave_requested(&mut leaves).await;
            sleep(LAST_TRY).await;
        };
        tokio::pin!(finishing, left);
        loop {
            tokio::select! {
                done = &mut finishing => return Some(done),
                request = next_request(asked) => requests::answer_over(run, copy, request).await,
                () = &mut left => return None,
            }
        }
    }

    /// Runs a plan until it is over, and does meanwhile what others want of it.
    async fn until_over(
        &self,
        plan: Plan,
        local: &RunId,
        held: &Held,
        copy: &CopyOut,
        speaker: &Speaker,
        asked: &mut Option<Requests>,
    ) -> Done {
        let mut standing = held.standing();
        let mut leaves = self.leaves.subscribe();
        let mut because = None;
        let work = self.owner.run(plan, Vec::new());
        tokio::pin!(work);
        loop {
            tokio::select! {
                // Work that is done is done, whatever else has happened by then.
                biased;
                outcomes = &mut work => return Done::Over { outcomes, because },
                request = next_request(asked) => {
                    requests::answer(&self.owner, local, copy, speaker, request).await;
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
                        Standing::TimeOver => {
                            copy.stop();
                            self.owner.stop(std::slice::from_ref(local));
                            let outcomes = work.await;
                            return if is_stopped(&outcomes) {
                                Done::Lost
                            } else {
                                Done::Over { outcomes, because }
                            };
                        }
                        Standing::Fenced => {
                            copy.stop();
                            self.owner.stop(std::slice::from_ref(local));
                            work.await;
                            return Done::Lost;
                        }
                    }
                }
                () = leave_requested(&mut leaves) => {
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

/// Returns whether a run was over only because it was stopped, and not by itself a moment before.
fn is_stopped(outcomes: &[Arc<RunSummary>]) -> bool {
    let ending = outcomes.first().and_then(|run| run.ending.as_ref());
    ending.is_none_or(|ending| ending.status() == Status::Stopped)
}

/// Waits until the fleet has the whole record of a run; `None` if another worker has the run
/// meanwhile.
async fn sent_record(copy: &CopyOut, held: &Held) -> Option<BTreeMap<String, u64>> {
    let mut standing = held.standing();
    tokio::select! {
        files = copy.finish() => match files {
            Ok(files) => Some(files),
            Err(error) => {
                warn!(run = %held.run(), %error, "record of a run stays incomplete");
                Some(copy.lengths())
            }
        },
        Ok(_) = standing.wait_for(|now| *now == Standing::Fenced) => None,
    }
}

async fn leave_requested(leaves: &mut watch::Receiver<bool>) {
    if leaves.wait_for(|leaves| *leaves).await.is_err() {
        // The worker lives longer than its runs.
        std::future::pending::<()>().await;
    }
}
