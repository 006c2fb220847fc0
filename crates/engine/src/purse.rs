//! The part of its budgets that a run may consume: asked for before its first child, told of every
//! answer, and given back at its end.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{
    Allowance, AnswerOutcome, BudgetDenial, BudgetLimits, BudgetReply, BudgetScope, BudgetStanding,
    Decision, Ending, Excess, GrantError, Happening, LedgerProblem, Offer, QuestionTerms, RunId,
    Rung, RungStep, Treasurer, Usage,
};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::life::end_without_child;
use crate::live_child::random;
use crate::questions::{Moment, Questions};
use crate::request::UnitRequest;
use crate::to_child::{NotSent, ToChild};
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
    let mut questions = Questions::new(QuestionTerms::default(), None);
    let mut is_told = false;
    loop {
        match purse.fill().await {
            Ok(offer) => {
                if is_told {
                    close_question(unit, &mut questions, AnswerOutcome::Withdrawn).await;
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
                if !questions.are_open() {
                    unit.report(paused(&denial)).await;
                    let moment = Moment {
                        at: unit.clock.now(),
                        now: Instant::now(),
                    };
                    let question = questions.ask_about(denial, random(), moment);
                    unit.report(Happening::Asked(question)).await;
                    unit.send_events().await;
                    is_told = true;
                }
            }
            Err(error) => {
                close_question(unit, &mut questions, AnswerOutcome::Lapsed).await;
                purse.close().await;
                let message = sentence(&error);
                return Err(Ending::Refused { message });
            }
        }
        sleep(ASK_AGAIN).await;
        match meanwhile(unit, &mut questions).await {
            Meanwhile::Nothing => {}
            Meanwhile::End(decision) => return Err(give_up(unit, &purse, decision).await),
            Meanwhile::Reply(BudgetReply::Raise { scope, limits }) => {
                if let Err(problem) = purse.raise(scope, limits).await {
                    unit.report(Happening::Warned(problem.to_string())).await;
                }
            }
            Meanwhile::Reply(BudgetReply::Leave) => {
                let denial = purse.fill().await.err();
                purse.close().await;
                let message = denial
                    .as_ref()
                    .map_or_else(|| "Its budget was not raised.".to_owned(), sentence);
                return Err(Ending::Refused { message });
            }
        }
    }
}

/// Something that happened while a run waited for its budget.
enum Meanwhile {
    Nothing,
    /// The run is to end.
    End(Decision),
    /// A person has answered.
    Reply(BudgetReply),
}

/// Takes the requests to a run that waits for its budget.
async fn meanwhile(unit: &mut Unit, questions: &mut Questions) -> Meanwhile {
    while let Ok(request) = unit.requests.try_recv() {
        match request {
            UnitRequest::End(decision) => return Meanwhile::End(decision),
            // A child that is started after a pause has all its time.
            UnitRequest::Pause { .. } | UnitRequest::Resume { .. } => {}
            UnitRequest::Send {
                what: ToChild::Answer(given),
                answer,
            } => {
                let taken = questions.take(&unit.task.run, &given);
                let (sent, taken) = match taken {
                    Ok(taken) => (Ok(()), Some(taken)),
                    Err(problem) => (Err(problem), None),
                };
                // The asker may have left.
                _ = answer.send(sent);
                if let Some(taken) = taken {
                    unit.report(Happening::Answered(taken.answered)).await;
                    unit.send_events().await;
                    if let Some(reply) = taken.budget {
                        return Meanwhile::Reply(reply);
                    }
                }
            }
            UnitRequest::Send { answer, .. } => {
                _ = answer.send(Err(NotSent::NotStarted(unit.task.run.clone())));
            }
        }
    }
    Meanwhile::Nothing
}

async fn close_question(unit: &mut Unit, questions: &mut Questions, outcome: AnswerOutcome) {
    if let Some(closed) = questions.close_budget(outcome) {
        unit.report(Happening::Answered(closed.answered)).await;
    }
}

/// Returns the event of a run that waits until somebody raises a budget.
pub(crate) fn paused(denial: &BudgetDenial) -> Happening {
    Happening::Rung(Rung {
        step: RungStep::Paused,
        words: denial.to_string(),
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
            Excess::Window { .. } => true,
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

    /// Lets a budget have at least these limits.
    pub(crate) async fn raise(
        &self,
        scope: BudgetScope,
        limits: BudgetLimits,
    ) -> Result<(), LedgerProblem> {
        let asked = self.ask(move |purse| purse.treasurer.raise_to(&scope, limits));
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
