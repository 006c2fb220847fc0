//! The budgets of a user: found by their names, by the day, or by a run that counts in them.

use pi_subagents_records::Ledgers;
use pi_subagents_vocabulary::{Advice, BudgetScope, Ledger, ScopeKind};

use pi_subagents_ground::error::CommandError;

/// A budget with its ledger.
#[derive(Debug)]
pub struct FoundBudget {
    /// Its scope.
    pub scope: BudgetScope,
    /// What was granted and used in it.
    pub ledger: Ledger,
}

impl FoundBudget {
    /// Reads all budgets, the latest first.
    pub fn read_all(ledgers: &Ledgers) -> Result<Vec<Self>, CommandError> {
        let read = ledgers.scopes().into_iter().map(|scope| {
            let ledger = ledgers.read(&scope);
            let ledger = ledger.map_err(|problem| CommandError::failed(problem.to_string()))?;
            Ok(Self {
                scope,
                ledger: ledger.unwrap_or_default(),
            })
        });
        read.collect()
    }

    /// Reads the budgets for which an id stands, the latest first. `day` is the latest day alone.
    pub fn find(ledgers: &Ledgers, id: &str) -> Result<Vec<Self>, CommandError> {
        let mut budgets = Self::read_all(ledgers)?;
        if id == "day" {
            budgets.retain(|budget| budget.scope.kind() == ScopeKind::Day);
            budgets.truncate(1);
        } else {
            budgets.retain(|budget| budget.is_meant(id));
        }
        if budgets.is_empty() {
            let error = CommandError::not_found(format!("there is no budget {id}"));
            return Err(error.advise("", Advice::ListBudgets, " lists all of them."));
        }
        Ok(budgets)
    }

    /// Returns whether an id stands for this budget: its name, or the id of a run in it.
    fn is_meant(&self, id: &str) -> bool {
        let names = [self.scope.as_str(), self.scope.name()];
        names.contains(&id) || self.has(id)
    }

    /// Returns whether a run counts in this budget.
    pub fn has(&self, id: &str) -> bool {
        let mut runs = self.ledger.accounts();
        runs.any(|(run, _)| run.as_str() == id)
    }
}
