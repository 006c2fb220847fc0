//! The payment of each answer of a model out of the run's purse, and the pause of a run whose purse
//! is empty.

use std::time::Duration;

use pi_subagents_vocabulary::{
    AnswerOutcome, BudgetDenial, BudgetReply, Decision, Excess, Happening, Usage,
};
use tokio::time::Instant;

use super::Running;
use super::dialogs::random;
use crate::pause::Pause;
use crate::purse::{Purse, paused, went_on};
use crate::questions::Moment;
use crate::stop_phases::Phase;

/// The time between two looks at a budget that somebody may raise.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A run whose tree is stopped until its budget has more.
pub(super) struct EmptyPurse {
    purse: Purse,
    decision: Decision,
    since: Instant,
    look_at: Instant,
    until: Instant,
}

impl EmptyPurse {
    /// Returns when it looks at its budget again.
    pub(super) fn alarm(&self) -> Instant {
        self.look_at
    }
}

impl Running<'_> {
    /// Counts the tokens and the cost of a record, and notes them in the ledgers of the run's
    /// budgets. A run whose ledger cannot be written goes on to what it was granted.
    pub(super) async fn pay(&mut self, usage: Usage) {
        if usage.total() == 0 {
            return;
        }
        self.progress.spending.add(usage);
        let Some(purse) = self.unit.purse.clone() else {
            return;
        };
        match purse.spend(usage).await {
            Ok(standing) => {
                if let Some(grant) = self.progress.spending.stand(standing) {
                    self.unit.report(Happening::Granted(grant)).await;
                }
            }
            Err(problem) => {
                let warning = format!("{problem}; it continues to its granted limit");
                self.unit.report(Happening::Warned(warning)).await;
            }
        }
    }

    /// Deals with a run that has used up what it may consume. If it is a budget that is used up, and
    /// somebody can raise it, the run waits for that; else it comes to its end.
    pub(super) async fn overspent(&mut self, excess: Excess) {
        let decision = Decision::Overspent(excess);
        if self.phase != Phase::Working || self.empty_purse.is_some() {
            return;
        }
        let patience = self.unit.plan.here.budgets.patience;
        let purse = self.unit.purse.clone();
        let purse = purse.filter(|purse| !patience.is_zero() && !purse.is_own_limit(&excess));
        let Some(purse) = purse else {
            return self.limit_reached(decision).await;
        };
        match purse.used_up().await {
            Ok(Some(denial)) => self.ask_for_more(denial).await,
            // Nobody knows what to raise.
            Ok(None) | Err(_) => return self.limit_reached(decision).await,
        }
        let now = Instant::now();
        self.keeper.pause();
        self.pause = Pause::Yes;
        self.empty_purse = Some(EmptyPurse {
            purse,
            decision,
            since: now,
            look_at: now + LOOK_AGAIN,
            until: now + patience,
        });
    }

    /// Says that the run waits for its budget, and asks a person to raise it.
    async fn ask_for_more(&mut self, denial: BudgetDenial) {
        self.unit.report(paused(&denial)).await;
        let moment = Moment {
            at: self.unit.clock.now(),
            now: Instant::now(),
        };
        let questions = &mut self.progress.questions;
        let question = questions.ask_about(denial, random(), moment);
        self.unit.report(Happening::Asked(question)).await;
    }

    /// Closes the question about the budget, if it is open.
    async fn close_budget(&mut self, outcome: AnswerOutcome) {
        if let Some(closed) = self.progress.questions.close_budget(outcome) {
            self.unit.report(Happening::Answered(closed.answered)).await;
        }
    }

    /// Does what a person has answered about the budget.
    pub(super) async fn budget_answered(&mut self, reply: BudgetReply) {
        let (scope, limits) = match reply {
            BudgetReply::Raise { scope, limits } => (scope, limits),
            BudgetReply::Leave => {
                if let Some(empty) = self.empty_purse.take() {
                    self.resume(empty.since.elapsed());
                    self.limit_reached(empty.decision).await;
                }
                return;
            }
        };
        let Some(purse) = self.empty_purse.as_ref().map(|empty| empty.purse.clone()) else {
            return;
        };
        if let Err(problem) = purse.raise(scope, limits).await {
            self.unit
                .report(Happening::Warned(problem.to_string()))
                .await;
        }
        self.look_into_purse().await;
        // It may have been too little, or another budget is used up too.
        if self.empty_purse.is_some()
            && let Ok(Some(denial)) = purse.used_up().await
        {
            self.ask_for_more(denial).await;
        }
    }

    /// Looks whether somebody has raised the budget.
    pub(super) async fn look_into_purse(&mut self) {
        let Some(mut empty) = self.empty_purse.take() else {
            return;
        };
        let now = Instant::now();
        let standing = empty.purse.look().await;
        let grant = standing
            .ok()
            .and_then(|standing| self.progress.spending.stand(standing));
        if self.progress.spending.excess().is_none() {
            if let Some(grant) = grant {
                self.unit.report(Happening::Granted(grant)).await;
            }
            self.close_budget(AnswerOutcome::Withdrawn).await;
            self.unit.report(went_on()).await;
            self.resume(now - empty.since);
        } else if now >= empty.until {
            self.close_budget(AnswerOutcome::Lapsed).await;
            self.resume(now - empty.since);
            self.limit_reached(empty.decision).await;
        } else {
            empty.look_at = now + LOOK_AGAIN;
            self.empty_purse = Some(empty);
        }
    }

    /// Lets the tree go on because the run is to end: a stopped one could not.
    pub(super) fn leave_purse(&mut self) {
        if let Some(empty) = self.empty_purse.take() {
            self.resume(empty.since.elapsed());
        }
    }

    /// Notes a pause of the whole owner while the run waits for its budget. Its tree stays stopped.
    pub(super) fn wait_longer(&mut self, pause: Duration) {
        if let Some(empty) = &mut self.empty_purse {
            self.pause = Pause::Yes;
            empty.look_at += pause;
            empty.until += pause;
        }
    }
}
