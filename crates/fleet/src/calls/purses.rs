//! The budgets of the runs of a call in a fleet. Their ledgers are on the machine of the caller: a run
//! is granted its share before its order is given, the order has that share as the limits of the run,
//! and what the record of the run tells is noted as it comes.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use pi_subagents_vocabulary::{
    Allowance, BudgetScope, EventSink, GrantError, Happening, LedgerProblem, RunEvent, RunId,
    RunSummary, Treasurer, Usage,
};
use tokio::task::spawn_blocking;
use tracing::warn;

use super::departure::TakenTask;

/// The budgets of the runs of a call.
#[derive(Clone)]
pub(super) struct Purses {
    treasurer: Arc<dyn Treasurer>,
    filled: Arc<Mutex<HashMap<RunId, Purse>>>,
}

/// The part of its budgets that a run was granted.
#[derive(Clone)]
struct Purse {
    scopes: Vec<BudgetScope>,
    /// Its limits on the worker, which does not hear of more.
    grant: Allowance,
}

/// The thread that writes into the ledgers, which may be locked for a while.
pub(super) struct Bookkeeper {
    /// Dropped when nothing more comes.
    entries: Option<Sender<Entry>>,
    thread: Option<JoinHandle<()>>,
}

/// An entry for the ledger, read from the record of a run.
enum Entry {
    Spent(RunId, Usage),
    Ended(RunId),
}

/// A sink that notes what the runs consume.
struct Spending(Sender<Entry>);

impl Purses {
    pub(super) fn new(treasurer: Arc<dyn Treasurer>) -> Self {
        Self {
            treasurer,
            filled: Arc::default(),
        }
    }

    /// Grants the run of a task its share, and limits its order to it. A run without budgets needs
    /// none.
    pub(super) async fn fill(&self, taken: &mut TakenTask) -> Result<(), GrantError> {
        if taken.budgets.is_empty() {
            return Ok(());
        }
        let (scopes, run) = (taken.budgets.clone(), taken.task.run.clone());
        let own = taken.order.work.limits.allowance;
        let treasurer = Arc::clone(&self.treasurer);
        let asked = {
            let (scopes, run) = (scopes.clone(), run.clone());
            spawn_blocking(move || treasurer.grant(&scopes, &run, own))
        };
        let offer = asked.await.unwrap_or_else(|_| {
            Err(GrantError::Unusable(LedgerProblem {
                scope: scopes[0].clone(),
                reason: "a fault of pi-subagents itself".to_owned(),
            }))
        })?;
        let limits = &mut taken.order.work.limits;
        limits.allowance = offer.grant;
        if let Some(time) = offer.time {
            limits.timeout = Some(limits.timeout.map_or(time, |limit| limit.min(time)));
        }
        let grant = offer.grant;
        self.filled().insert(run, Purse { scopes, grant });
        Ok(())
    }

    /// Gives back what a run was granted that never begins.
    pub(super) async fn give_back(&self, run: &RunId, scopes: Vec<BudgetScope>) {
        let filled = self.filled().remove(run);
        let scopes = filled.map_or(scopes, |purse| purse.scopes);
        if scopes.is_empty() {
            return;
        }
        let (treasurer, run) = (Arc::clone(&self.treasurer), run.clone());
        let closed = spawn_blocking(move || treasurer.close(&scopes, &run)).await;
        if let Ok(Err(error)) = closed {
            warn!(%error, "the ledger was not closed");
        }
    }

    /// Begins to note what the runs consume.
    pub(super) fn keep_books(&self) -> (Box<dyn EventSink>, Bookkeeper) {
        let (sender, entries) = channel();
        let purses = self.clone();
        let thread = std::thread::Builder::new()
            .name("ledgers".to_owned())
            .spawn(move || purses.write(&entries));
        let bookkeeper = Bookkeeper {
            entries: Some(sender.clone()),
            thread: thread.ok(),
        };
        (Box::new(Spending(sender)), bookkeeper)
    }

    fn write(&self, entries: &Receiver<Entry>) {
        for entry in entries {
            let (Entry::Spent(run, _) | Entry::Ended(run)) = &entry;
            let Some(Purse { scopes, grant }) = self.filled().get(run).cloned() else {
                continue;
            };
            let written = match &entry {
                Entry::Spent(run, usage) => {
                    let spent = self.treasurer.spend(&scopes, run, grant, *usage);
                    spent.map(|_| ())
                }
                Entry::Ended(run) => {
                    self.filled().remove(run);
                    self.treasurer.close(&scopes, run)
                }
            };
            if let Err(error) = written {
                warn!(%run, %error, "the ledger was not written");
            }
        }
    }

    fn filled(&self) -> MutexGuard<'_, HashMap<RunId, Purse>> {
        self.filled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bookkeeper {
    /// Waits until everything is in the ledgers. The sinks of the call are gone by then.
    pub(super) async fn finish(mut self) {
        drop(self.entries.take());
        if let Some(thread) = self.thread.take() {
            // A panic has been printed.
            _ = spawn_blocking(move || thread.join()).await;
        }
    }
}

impl EventSink for Spending {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        for event in events {
            let entry = match &event.happening {
                Happening::Said { record, .. } => {
                    let usage = record.usage();
                    (usage.total() > 0).then(|| Entry::Spent(event.run.clone(), usage))
                }
                Happening::Ended(_) => Some(Entry::Ended(event.run.clone())),
                _ => None,
            };
            if let Some(entry) = entry {
                // Without the thread nothing is noted, and the grants return with this process.
                _ = self.0.send(entry);
            }
        }
    }
}
