//! What the engine asks of ledgers, wherever they are kept.

use std::fmt;

use super::{BudgetDenial, BudgetLimits, BudgetScope, Measure, Offer};
use crate::{Allowance, RunId, Usage};

/// Grants runs what they may consume, and notes what they consume. Its methods may wait for other
/// processes.
pub trait Treasurer: fmt::Debug + Send + Sync {
    /// Starts a run, if all scopes can grant it something. `own` are the limits of its own.
    fn grant(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
    ) -> Result<Offer, GrantError>;

    /// Notes what a run has consumed. A run that has used four fifths of its grant gets more if
    /// there is more.
    fn spend(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
        usage: Usage,
    ) -> Result<BudgetStanding, LedgerProblem>;

    /// Returns where a run stands, which gets more if it needs more and there is more.
    fn look(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
        own: Allowance,
    ) -> Result<BudgetStanding, LedgerProblem>;

    /// Returns why a run that has used its grant gets nothing more; `None` if no scope says so.
    fn used_up(
        &self,
        scopes: &[BudgetScope],
        run: &RunId,
    ) -> Result<Option<BudgetDenial>, LedgerProblem>;

    /// Lets a scope have at least these limits.
    fn raise_to(&self, scope: &BudgetScope, limits: BudgetLimits) -> Result<(), LedgerProblem>;

    /// Notes that a run consumes nothing more.
    fn close(&self, scopes: &[BudgetScope], run: &RunId) -> Result<(), LedgerProblem>;
}

/// What a run may consume, and what it has consumed with its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BudgetStanding {
    /// What it may consume, all in all.
    pub grant: Allowance,
    /// Its grant without what its open descendants were granted and have not used.
    pub free: Allowance,
    /// What it has consumed.
    pub spent: Usage,
}

impl BudgetStanding {
    /// Returns whether four fifths of what the run may use itself are used.
    pub fn is_near(&self) -> bool {
        let mut measures = Measure::ALL.into_iter();
        measures.any(|measure| measure.is_near(&self.free, &self.spent))
    }
}

/// The reason why a run is granted nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// Too little is left.
    #[error(transparent)]
    Denied(#[from] BudgetDenial),
    /// A ledger cannot be used, and what cannot be counted is not started.
    #[error(transparent)]
    Unusable(#[from] LedgerProblem),
}

/// A ledger that cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{scope} cannot be kept: {reason}")]
pub struct LedgerProblem {
    /// The scope.
    pub scope: BudgetScope,
    /// The reason, with the file.
    pub reason: String,
}
