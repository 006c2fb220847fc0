//! The fold over the entries of one scope.

use std::collections::BTreeMap;

use super::{BudgetLimits, BudgetStanding, LedgerEntry, LedgerOwner, Measure, OpenedFrom};
use crate::{Allowance, RunId, Timestamp, Usage};

/// The state of a budget.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ledger {
    /// The limits as they were set last.
    set: BudgetLimits,
    /// The limits to which a person raised those.
    raised: BudgetLimits,
    /// The time of the first grant.
    pub first_start: Option<Timestamp>,
    pub(super) accounts: BTreeMap<RunId, Account>,
    /// The runs that the children of runs have started.
    below: BTreeMap<RunId, Vec<RunId>>,
}

/// The state of one run in a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The process that owns the run; none if its line is missing.
    pub owner: Option<LedgerOwner>,
    /// The run whose child has started it.
    pub parent: Option<RunId>,
    /// What it may consume, all in all, with its descendants.
    pub grant: Allowance,
    /// What it has consumed itself.
    pub spent: Usage,
    /// How far it is.
    pub state: AccountState,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    /// It waits for its turn.
    Waiting,
    /// It was granted something.
    Open,
    /// It consumes nothing more. `has_run` is false if it never started.
    Closed {
        /// True if it was granted something before.
        has_run: bool,
    },
}

impl Ledger {
    /// Adds one more entry.
    pub fn apply(&mut self, entry: &LedgerEntry) {
        match entry {
            LedgerEntry::Open { limits, from } => {
                self.set = self.opened(*limits, *from);
                if *from != OpenedFrom::Settings {
                    self.raised = BudgetLimits::default();
                }
            }
            LedgerEntry::Raise { limits } => self.raised = self.limits().raised(*limits),
            LedgerEntry::Expect { run, owner, parent } => {
                // A parent is older than its children, so that no run is its own ancestor.
                let is_older = |parent: &RunId| self.accounts.contains_key(parent);
                let is_new = !self.accounts.contains_key(run);
                let parent = parent.clone().filter(|parent| is_new && is_older(parent));
                if let Some(parent) = &parent {
                    let siblings = self.below.entry(parent.clone()).or_default();
                    siblings.push(run.clone());
                }
                let account = self.account(run);
                account.owner = Some(owner.clone());
                account.parent = account.parent.take().or(parent);
            }
            LedgerEntry::Grant { run, at, grant } => {
                self.first_start.get_or_insert(*at);
                let account = self.account(run);
                account.grant = *grant;
                account.state = AccountState::Open;
            }
            LedgerEntry::Spend { run, usage } => self.account(run).spent += *usage,
            LedgerEntry::Close { run } => self.account(run).close(),
        }
    }

    /// Returns the limits that are set if the scope is opened with these.
    fn opened(&self, limits: BudgetLimits, from: OpenedFrom) -> BudgetLimits {
        match from {
            OpenedFrom::Outside | OpenedFrom::Settings => limits,
            OpenedFrom::Inside => self.limits().tightened(limits),
        }
    }

    /// Returns whether opening the scope with these limits changes it.
    pub fn changes(&self, limits: BudgetLimits, from: OpenedFrom) -> bool {
        match from {
            OpenedFrom::Outside => limits != self.set || self.raised != BudgetLimits::default(),
            OpenedFrom::Settings => limits != self.set,
            OpenedFrom::Inside => self.limits().tightened(limits) != self.limits(),
        }
    }

    /// Returns the limits that hold.
    pub fn limits(&self) -> BudgetLimits {
        self.set.raised(self.raised)
    }

    fn account(&mut self, run: &RunId) -> &mut Account {
        let account = self.accounts.entry(run.clone());
        account.or_insert_with(|| Account {
            owner: None,
            parent: None,
            grant: Allowance::default(),
            spent: Usage::default(),
            state: AccountState::Waiting,
        })
    }

    /// Closes the runs of owners that are gone.
    pub fn close_gone(&mut self, is_alive: impl Fn(&LedgerOwner) -> bool) {
        for account in self.accounts.values_mut() {
            let is_gone = |owner: &LedgerOwner| !is_alive(owner);
            if !account.is_closed() && account.owner.as_ref().is_none_or(is_gone) {
                account.close();
            }
        }
    }

    /// Returns all runs with their accounts, in the order of their ids.
    pub fn accounts(&self) -> impl Iterator<Item = (&RunId, &Account)> {
        self.accounts.iter()
    }

    /// Returns one account.
    pub fn account_of(&self, run: &RunId) -> Option<&Account> {
        self.accounts.get(run)
    }

    /// Returns what all runs have consumed.
    pub fn spent(&self) -> Usage {
        self.accounts.values().map(|account| account.spent).sum()
    }

    /// Returns how many runs have started.
    pub fn started(&self) -> u64 {
        let accounts = self.accounts.values();
        accounts.filter(|account| account.has_run()).count() as u64
    }

    /// Returns what a run has consumed with all its descendants.
    pub fn spent_with_descendants(&self, run: &RunId) -> Usage {
        let mut spent = self
            .accounts
            .get(run)
            .map_or_else(Usage::default, |account| account.spent);
        for child in self.children(run) {
            spent += self.spent_with_descendants(child);
        }
        spent
    }

    /// Returns where a run stands: its grant, the part of it that its open descendants do not hold,
    /// and what it has consumed with all its descendants. A run that was never granted anything may
    /// consume nothing that is limited.
    pub fn standing(&self, run: &RunId) -> BudgetStanding {
        let grant = self.accounts.get(run).map(|account| account.grant);
        let grant = grant.unwrap_or_default();
        let spent = self.spent_with_descendants(run);
        let mut free = grant;
        for measure in Measure::ALL {
            let account = self.accounts.get(run);
            let used = account.map_or(0, |account| self.used(run, account, measure));
            let held = used.saturating_sub(measure.of(&spent));
            let limit = measure.limit(&grant);
            measure.set(&mut free, limit.map(|limit| limit.saturating_sub(held)));
        }
        BudgetStanding { grant, free, spent }
    }

    /// Returns what is neither spent nor granted of a measure; `None` if it is not limited.
    pub fn left(&self, measure: Measure) -> Option<u64> {
        let limit = measure.limit(&self.limits().allowance())?;
        let roots = self.accounts.keys().filter(|run| self.is_root(run));
        let committed = roots.map(|run| self.committed(run, measure));
        Some(limit.saturating_sub(committed.fold(0, u64::saturating_add)))
    }

    /// Returns what a run may still hand to its descendants: its grant without what it used, what
    /// others of them have, and what is kept for its own last answer.
    pub(super) fn left_under(&self, parent: &RunId, measure: Measure) -> Option<u64> {
        let account = self.accounts.get(parent)?;
        let grant = measure.limit(&account.grant)?;
        let kept = measure.reserve(grant);
        let used = self.used(parent, account, measure);
        Some(grant.saturating_sub(kept).saturating_sub(used))
    }

    /// Returns what a run takes of its scope: its grant while it is open, what was used afterwards.
    fn committed(&self, run: &RunId, measure: Measure) -> u64 {
        let Some(account) = self.accounts.get(run) else {
            return 0;
        };
        let used = self.used(run, account, measure);
        match account.state {
            AccountState::Open => used.max(measure.limit(&account.grant).unwrap_or(0)),
            AccountState::Waiting | AccountState::Closed { .. } => used,
        }
    }

    /// Returns what an open run was granted and has not used.
    pub(super) fn unused(&self, run: &RunId, measure: Measure) -> u64 {
        let used = self
            .accounts
            .get(run)
            .map_or(0, |account| self.used(run, account, measure));
        self.committed(run, measure).saturating_sub(used)
    }

    /// Returns what a run has spent, with what its descendants take of it.
    fn used(&self, run: &RunId, account: &Account, measure: Measure) -> u64 {
        let below = self
            .children(run)
            .map(|child| self.committed(child, measure));
        below.fold(measure.of(&account.spent), u64::saturating_add)
    }

    /// Returns the runs that the child of a run has started.
    pub fn children(&self, run: &RunId) -> impl Iterator<Item = &RunId> {
        self.below.get(run).into_iter().flatten()
    }

    /// Returns whether a run was started by nobody who is in this ledger.
    pub fn is_root(&self, run: &RunId) -> bool {
        let account = self.accounts.get(run);
        account.is_none_or(|account| account.parent.is_none())
    }
}

impl Account {
    /// Returns whether it consumes nothing more.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, AccountState::Closed { .. })
    }

    /// Returns whether it has started.
    pub fn has_run(&self) -> bool {
        match self.state {
            AccountState::Waiting => false,
            AccountState::Open => true,
            AccountState::Closed { has_run } => has_run,
        }
    }

    fn close(&mut self) {
        let has_run = self.has_run();
        self.state = AccountState::Closed { has_run };
    }
}
