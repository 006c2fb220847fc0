//! The part of its budgets that a run may consume: asked for before its first child, told of every
//! answer, and given back at its end.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{
    Allowance, BudgetDenial, BudgetScope, BudgetStanding, Decision, Ending, Excess, GrantError,
    Happening, LedgerProblem, Offer, RunId, Rung, RungStep, Treasurer, Usage,
};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::life::{end_without_child, requested_end};
use crate::unit::Unit;

/// The pause between two tries while others have everything that is left. They return what they do
/// not use when they end, and they may belong to other processes.
const ASK_AGAIN: Duration = Duration::from_millis(250);

/// The place of a run in the ledgers of its budgets.
#[derive(Debug, Clone)]
pub(crate) struct Purse {
    treasurer: Arc<dyn Treasurer>,
    scopes: Arc<[BudgetScope]>,
    run: RunId,
    /// The limits of the run itself.
    own: Allowance,
}

/// Asks the budgets of a run for its part. It waits while running runs have the rest, and where
/// somebody can raise a budget that is used up, for that. Returns how the run ends if it gets nothing.
pub(crate) async fn fill_purse(unit: &mut Unit) -> Result<(), Ending> {
    if unit.plan.here.budgets.scopes.is_empty() {
        return Ok(());
    }
    let purse = Purse::of(unit)?;
    let until = Instant::now() + unit.plan.here.budgets.patience;
    let mut is_told = false;
    loop {
        match purse.fill().await {
            Ok(offer) => {
                if is_told {
                    unit.report(went_on()).await;
                }
                take(unit, offer).await;
                unit.purse = Some(purse);
                return Ok(());
            }
            Err(GrantError::Denied(denial)) if denial.is_held => {
                debug!(run = %unit.task.run, %denial, "run waits for its budget");
            }
            Err(GrantError::Denied(denial)) if Instant::now() < until => {
                if !is_told {
                    unit.report(paused(&denial)).await;
                    unit.send_events().await;
                    is_told = true;
                }
            }
            Err(error) => {
                purse.close().await;
                let message = sentence(&error);
                return Err(Ending::Refused { message });
            }
        }
        sleep(ASK_AGAIN).await;
        if let Some(decision) = requested_end(unit) {
            return Err(give_up(unit, &purse, decision).await);
        }
    }
}

/// Returns the event of a run that waits until somebody raises a budget.
pub(crate) fn paused(denial: &BudgetDenial) -> Happening {
    Happening::Rung(Rung {
        step: RungStep::Paused,
        words: format!("{denial}. To continue: {}", denial.raise_command()),
    })
}

/// Returns the event of a run whose budget was raised.
pub(crate) fn went_on() -> Happening {
    Happening::Rung(Rung {
        step: RungStep::WentOn,
        words: "its budget has more now".to_owned(),
    })
}

/// Returns an error as the message of a run that is refused.
fn sentence(error: &GrantError) -> String {
    let words = error.to_string();
    let mut rest = words.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest).collect()
}

async fn give_up(unit: &mut Unit, purse: &Purse, decision: Decision) -> Ending {
    purse.close().await;
    end_without_child(unit, decision).await
}

/// Lets the run have what it was offered.
async fn take(unit: &mut Unit, offer: Offer) {
    let limits = &mut unit.plan.work.limits;
    limits.allowance = offer.grant;
    if let Some(time) = offer.time {
        limits.timeout = Some(limits.timeout.map_or(time, |limit| limit.min(time)));
    }
    unit.report(Happening::Granted(offer.grant)).await;
}

impl Purse {
    fn of(unit: &Unit) -> Result<Self, Ending> {
        let treasurer = unit.launcher.treasurer.clone();
        let treasurer = treasurer.ok_or_else(|| Ending::Refused {
            message: "The budgets of this run cannot be kept here.".to_owned(),
        })?;
        Ok(Self {
            treasurer,
            scopes: unit.plan.here.budgets.scopes.clone().into(),
            run: unit.task.run.clone(),
            own: unit.plan.work.limits.allowance,
        })
    }

    /// Returns whether a run has reached a limit of its own, which no budget can raise.
    pub(crate) fn is_own_limit(&self, excess: &Excess) -> bool {
        match excess {
            Excess::Tokens { allowed, .. } => self.own.tokens == Some(*allowed),
            Excess::Cost { allowed, .. } => self.own.cost == Some(*allowed),
        }
    }

    async fn fill(&self) -> Result<Offer, GrantError> {
        let asked = self.ask(|purse| purse.treasurer.grant(&purse.scopes, &purse.run, purse.own));
        asked.await.unwrap_or_else(|| Err(self.fault().into()))
    }

    /// Notes what the run has consumed.
    pub(crate) async fn spend(&self, usage: Usage) -> Result<BudgetStanding, LedgerProblem> {
        let asked = self.ask(move |purse| {
            let Purse { scopes, run, .. } = purse;
            purse.treasurer.spend(scopes, run, purse.own, usage)
        });
        asked.await.unwrap_or_else(|| Err(self.fault()))
    }

    /// Asks whether there is more now.
    pub(crate) async fn look(&self) -> Result<BudgetStanding, LedgerProblem> {
        let asked = self.ask(|purse| purse.treasurer.look(&purse.scopes, &purse.run, purse.own));
        asked.await.unwrap_or_else(|| Err(self.fault()))
    }

    /// Asks why there is nothing more.
    pub(crate) async fn used_up(&self) -> Result<Option<BudgetDenial>, LedgerProblem> {
        let asked = self.ask(|purse| purse.treasurer.used_up(&purse.scopes, &purse.run));
        asked.await.unwrap_or_else(|| Err(self.fault()))
    }

    /// Gives back what the run did not use. If that fails, it returns when this process ends.
    pub(crate) async fn close(&self) {
        let asked = self.ask(|purse| purse.treasurer.close(&purse.scopes, &purse.run));
        if let Some(Err(error)) = asked.await {
            warn!(run = %self.run, %error, "the ledger was not closed");
        }
    }

    /// Asks on a thread of its own, because a ledger may be locked for a while.
    async fn ask<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let purse = self.clone();
        spawn_blocking(move || act(&purse)).await.ok()
    }

    fn fault(&self) -> LedgerProblem {
        LedgerProblem {
            scope: self.scopes[0].clone(),
            reason: "a fault of pi-subagents itself".to_owned(),
        }
    }
}

/// Gives back what a run did not get to use because it was stopped while it waited for its turn.
pub(crate) fn close_unbegun(
    treasurer: Option<&Arc<dyn Treasurer>>,
    run: &RunId,
    scopes: Vec<BudgetScope>,
) {
    let Some(treasurer) = treasurer.filter(|_| !scopes.is_empty()).cloned() else {
        return;
    };
    let run = run.clone();
    // Nobody waits for it: if it fails, the place returns when this process ends.
    drop(spawn_blocking(move || treasurer.close(&scopes, &run)));
}
