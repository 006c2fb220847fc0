//! The ledgers of a user's budgets: one append-only file per scope.
//!
//! `<agent dir>/subagents-budgets/<scope>.jsonl` holds one [`LedgerEntry`] per line. A process that
//! writes has the file alone, reads what others have added, decides, and adds its own lines. See
//! `docs/design/budgets.md`.
//!
//! [`LedgerEntry`]: pi_subagents_vocabulary::LedgerEntry

mod file;
mod ledgers;
#[cfg(test)]
mod tests;

pub use ledgers::Ledgers;
