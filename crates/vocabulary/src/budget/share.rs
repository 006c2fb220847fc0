//! What a run is granted, and why it is granted nothing.

use std::time::Duration;

use super::{
    Account, AccountState, BudgetDenial, BudgetScope, Ledger, Measure, ScopeKind, UsedLimit,
};
use crate::allowance::lower;
use crate::{Allowance, RunId, Timestamp};

/// What a run may consume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offer {
    /// What it may consume, all in all.
    pub grant: Allowance,
    /// The time that is left to it, if that is limited.
    pub time: Option<Duration>,
}

impl Offer {
    /// Returns what both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            grant: self.grant.tightened(other.grant),
            time: lower(self.time, other.time),
        }
    }
}

impl Ledger {
    /// Returns what a run is granted when it starts: the limit of its own, else an equal share of
    /// what is left among those that wait.
    pub fn offer(
        &self,
        scope: &BudgetScope,
        run: &RunId,
        own: Allowance,
        now: Timestamp,
    ) -> Result<Offer, BudgetDenial> {
        let time = self.time_left(scope, now)?;
        self.check_runs(scope)?;
        let mut grant = Allowance::default();
        for measure in Measure::ALL {
            let limit = self.share(scope, run, own, measure)?;
            measure.set(&mut grant, limit);
        }
        Ok(Offer { grant, time })
    }

    fn share(
        &self,
        scope: &BudgetScope,
        run: &RunId,
        own: Allowance,
        measure: Measure,
    ) -> Result<Option<u64>, BudgetDenial> {
        let wish = measure.limit(&own);
        let Some(limit) = measure.limit(&self.limits().allowance()) else {
            return Ok(wish);
        };
        let left = self.left_for(run, measure);
        let least = measure.least().min(limit);
        let target = wish.unwrap_or_else(|| (left / self.takers(scope, run)).max(least));
        if left == 0 || left < least.min(target) {
            return Err(self.denial(scope, run, measure, limit));
        }
        Ok(Some(target.min(left)))
    }

    /// Returns what a run that needs more may consume now: its grant and a share of what is left
    /// among those that run and wait. A limit of its own is never raised.
    pub fn more(&self, scope: &BudgetScope, run: &RunId, own: Allowance) -> Allowance {
        let Some(account) = self.account_of(run) else {
            return Allowance::default();
        };
        let mut grant = account.grant;
        for measure in Measure::ALL {
            let limited = measure.limit(&self.limits().allowance());
            let (Some(_), Some(has)) = (limited, measure.limit(&grant)) else {
                // Another scope decides.
                measure.set(&mut grant, measure.limit(&own));
                continue;
            };
            let left = self.left_for(run, measure);
            let takers = self.takers(scope, run) + self.running(run);
            let share = (left / takers).max(measure.least()).min(left);
            let raised = has.saturating_add(share);
            measure.set(&mut grant, lower(Some(raised), measure.limit(&own)));
        }
        grant
    }

    /// Returns what is left where a run takes from: the grant of the run that started it, or the
    /// scope.
    fn left_for(&self, run: &RunId, measure: Measure) -> u64 {
        let in_scope = self.left(measure).unwrap_or(u64::MAX);
        match self.open_parent(run) {
            Some(parent) => self.left_under(parent, measure).unwrap_or(in_scope),
            None => in_scope,
        }
    }

    fn open_parent(&self, run: &RunId) -> Option<&RunId> {
        let account = self.account_of(run)?;
        account
            .parent
            .as_ref()
            .filter(|parent| self.is_open(parent))
    }

    fn is_open(&self, run: &RunId) -> bool {
        let account = self.account_of(run);
        account.is_some_and(|account| account.state == AccountState::Open)
    }

    /// Returns among how many a share is counted: the runs that wait beside this one, this one, the
    /// run that started it and goes on itself, and in a scope of several calls one more, so that a
    /// call that comes later finds something.
    fn takers(&self, scope: &BudgetScope, run: &RunId) -> u64 {
        let waiting = self.beside(run, AccountState::Waiting);
        let further = match (self.open_parent(run), scope.kind()) {
            (None, ScopeKind::Call) => 0,
            (Some(_), _) | (None, ScopeKind::Session | ScopeKind::Named | ScopeKind::Day) => 1,
        };
        waiting + 1 + further
    }

    fn running(&self, run: &RunId) -> u64 {
        self.beside(run, AccountState::Open)
    }

    /// Returns how much the runs beside this one may still give back.
    fn returnable(&self, run: &RunId, measure: Measure) -> u64 {
        let others = self.others(run, AccountState::Open);
        let unused = others.map(|(other, _)| self.unused(other, measure));
        unused.fold(0, u64::saturating_add)
    }

    /// Counts the other runs of a state that were started by the same run.
    fn beside(&self, run: &RunId, state: AccountState) -> u64 {
        self.others(run, state).count() as u64
    }

    fn others<'a>(
        &'a self,
        run: &'a RunId,
        state: AccountState,
    ) -> impl Iterator<Item = (&'a RunId, &'a Account)> {
        let account = self.account_of(run);
        let parent = account.and_then(|account| account.parent.as_ref());
        self.accounts().filter(move |(other, account)| {
            *other != run && account.state == state && account.parent.as_ref() == parent
        })
    }

    fn check_runs(&self, scope: &BudgetScope) -> Result<(), BudgetDenial> {
        let Some(limit) = self.limits().runs else {
            return Ok(());
        };
        let started = self.started();
        if started < limit {
            return Ok(());
        }
        Err(BudgetDenial {
            scope: scope.clone(),
            used: UsedLimit::Runs {
                spent: started,
                limit,
            },
            is_held: false,
        })
    }

    /// Returns the time that is left, if it is limited.
    fn time_left(
        &self,
        scope: &BudgetScope,
        now: Timestamp,
    ) -> Result<Option<Duration>, BudgetDenial> {
        let Some(limit) = self.limits().seconds else {
            return Ok(None);
        };
        let gone = self.first_start.map_or(Duration::ZERO, |first| {
            Duration::try_from(now.duration_since(first)).unwrap_or(Duration::ZERO)
        });
        match limit.checked_sub(gone).filter(|left| !left.is_zero()) {
            Some(left) => Ok(Some(left)),
            None => Err(BudgetDenial {
                scope: scope.clone(),
                used: UsedLimit::Seconds {
                    spent: gone.as_secs(),
                    limit: limit.as_secs(),
                },
                is_held: false,
            }),
        }
    }

    /// Returns why nothing is left. Runs beside this one may return what they were granted; the run
    /// that started it cannot, because it waits for this one.
    fn denial(
        &self,
        scope: &BudgetScope,
        run: &RunId,
        measure: Measure,
        limit: u64,
    ) -> BudgetDenial {
        let may_be_left = self
            .left_for(run, measure)
            .saturating_add(self.returnable(run, measure));
        BudgetDenial {
            scope: scope.clone(),
            used: measure.used(&self.spent(), limit),
            is_held: may_be_left >= measure.least().min(limit).max(1),
        }
    }

    /// Returns why a run waits here: it has used its grant, or may not start. `None` if it does not
    /// have to.
    pub fn refusal(
        &self,
        scope: &BudgetScope,
        run: &RunId,
        now: Timestamp,
    ) -> Option<BudgetDenial> {
        let has_grant = self.account_of(run).is_some();
        let may_start = || {
            self.time_left(scope, now)
                .and_then(|_| self.check_runs(scope))
        };
        let used_up = self.used_up(scope, run);
        used_up.or_else(|| may_start().err().filter(|_| !has_grant))
    }

    /// Returns why a run that has used its grant gets nothing more here; `None` if there is more, or
    /// if what is used up is not limited here.
    pub fn used_up(&self, scope: &BudgetScope, run: &RunId) -> Option<BudgetDenial> {
        Measure::ALL.into_iter().find_map(|measure| {
            let limit = measure.limit(&self.limits().allowance())?;
            let is_empty = self.left_for(run, measure) == 0;
            is_empty.then(|| self.denial(scope, run, measure, limit))
        })
    }
}
