//! The lines of a ledger.

use serde::{Deserialize, Serialize};

use super::BudgetLimits;
use crate::{Allowance, RunId, Timestamp, Usage};

/// One line of a ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "camelCase")]
pub enum LedgerEntry {
    /// The scope has these limits.
    Open {
        /// The limits.
        limits: BudgetLimits,
        /// Who sets them.
        from: OpenedFrom,
    },
    /// A person lets the scope have more, whatever its settings say.
    Raise {
        /// The limits that it has at least, of those that it has.
        limits: BudgetLimits,
    },
    /// A run waits for its turn.
    Expect {
        /// The run.
        run: RunId,
        /// The process that owns it.
        owner: LedgerOwner,
        /// The run whose child has started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<RunId>,
    },
    /// A run may consume this much, all in all.
    Grant {
        /// The run.
        run: RunId,
        /// The time.
        at: Timestamp,
        /// What it may consume.
        grant: Allowance,
    },
    /// A run has consumed this.
    Spend {
        /// The run.
        run: RunId,
        /// The tokens and their cost.
        usage: Usage,
    },
    /// A run consumes nothing more. What it was granted and did not use returns.
    Close {
        /// The run.
        run: RunId,
    },
}

/// Who sets the limits of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OpenedFrom {
    /// A person or a program: their latest word holds.
    Outside,
    /// The settings: what a person raised since then stays.
    Settings,
    /// The child of a run: it can only tighten them.
    Inside,
}

/// A process that owns runs, named so that a newcomer with the same pid is not taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerOwner {
    /// Its pid.
    pub pid: u32,
    /// The time at which the process started, in ticks since boot.
    pub start_time: u64,
    /// The machine.
    pub host: String,
    /// The time at which it noted this.
    pub since: Timestamp,
}
