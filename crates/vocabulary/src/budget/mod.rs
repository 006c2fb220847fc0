//! Budgets: what the runs of a call, of a session or of a day may consume together.
//!
//! A [`Ledger`] is the fold over the [`LedgerEntry`]s of one [`BudgetScope`]. It decides what a run
//! is granted ([`Ledger::offer`]) and whether it gets more ([`Ledger::more`]). The file is kept by
//! the records; the reasons are in `docs/design/budgets.md`.

mod denial;
mod entry;
mod ledger;
mod limits;
mod measure;
mod raise_question;
mod scope;
mod share;
#[cfg(test)]
mod tests;
mod treasurer;

pub use denial::{BudgetDenial, MoreBudget, UsedLimit};
pub use entry::{LedgerEntry, LedgerOwner, OpenedFrom};
pub use ledger::{Account, AccountState, Ledger};
pub use limits::BudgetLimits;
pub use measure::Measure;
pub use raise_question::BudgetReply;
pub use scope::{BudgetScope, ScopeKind};
pub use share::Offer;
pub use treasurer::{BudgetStanding, GrantError, LedgerProblem, Treasurer};
