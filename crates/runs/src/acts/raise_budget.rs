//! Lets the runs of a budget use more. Runs that wait for it go on when they look next, at once.

use std::time::Duration;

use pi_subagents_records::Ledgers;
use pi_subagents_vocabulary::{Advice, BudgetLimits, BudgetScope, Dollars};

use crate::budgets::FoundBudget;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The wish to raise a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RaiseWish {
    /// Dollars.
    pub cost: Option<Raise<Dollars>>,
    /// Tokens.
    pub tokens: Option<Raise<u64>>,
    /// Runs.
    pub runs: Option<Raise<u64>>,
    /// Time.
    pub time: Option<Raise<Duration>>,
}

/// A new limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raise<T> {
    /// As much as this.
    To(T),
    /// As much more than now.
    By(T),
}

/// A budget that was raised.
#[derive(Debug)]
pub struct RaisedBudget {
    /// Its scope.
    pub scope: BudgetScope,
    /// The limits that hold now.
    pub limits: BudgetLimits,
}

/// Raises the budget for which an id stands. Fails if several are meant, if the wish raises nothing,
/// or inside a run: what a caller has set is not lifted by its sub-agents.
pub fn raise_budget(
    places: &Places,
    id: &str,
    wish: &RaiseWish,
) -> Result<RaisedBudget, CommandError> {
    if places.is_inside_run() {
        return Err(CommandError::usage("a sub-agent cannot raise a budget")
            .hint("Only a person or a program outside of its runs can."));
    }
    let ledgers = Ledgers::of(&places.agent_dir);
    let found = FoundBudget::find(&ledgers, id)?;
    let [budget] = found.as_slice() else {
        let error = CommandError::usage(format!("{id} stands for {} budgets", found.len()));
        return Err(found.iter().take(5).fold(error, |error, budget| {
            let scope = budget.scope.as_str().to_owned();
            error.advise("", Advice::RaiseBudget(scope), "")
        }));
    };
    let now = budget.ledger.limits();
    let limits = wish.applied(&now);
    if let Some(field) = wish.unlimited(&now) {
        return Err(CommandError::usage(format!(
            "{} has no limit of {field}, so there is nothing to raise",
            budget.scope
        )));
    }
    if now.raised(limits) == now {
        return Err(CommandError::usage(format!(
            "{} has these limits already, or higher ones",
            budget.scope
        ))
        .hint("A sum with a plus, such as +2, adds to the limit."));
    }
    let limits = ledgers
        .raise(&budget.scope, limits)
        .map_err(|problem| CommandError::failed(problem.to_string()))?;
    Ok(RaisedBudget {
        scope: budget.scope.clone(),
        limits,
    })
}

impl RaiseWish {
    /// Returns the limits that are wished for, where they are now these.
    fn applied(&self, now: &BudgetLimits) -> BudgetLimits {
        let add = |one: Dollars, other: Dollars| {
            Dollars::from_millionths(one.millionths().saturating_add(other.millionths()))
        };
        BudgetLimits {
            cost: applied(self.cost, now.cost, add),
            tokens: applied(self.tokens, now.tokens, u64::saturating_add),
            runs: applied(self.runs, now.runs, u64::saturating_add),
            seconds: applied(self.time, now.seconds, Duration::saturating_add),
        }
    }

    /// Returns the first wish about something that is not limited.
    fn unlimited(&self, now: &BudgetLimits) -> Option<&'static str> {
        let wishes = [
            ("cost", self.cost.is_some(), now.cost.is_some()),
            ("tokens", self.tokens.is_some(), now.tokens.is_some()),
            ("runs", self.runs.is_some(), now.runs.is_some()),
            ("time", self.time.is_some(), now.seconds.is_some()),
        ];
        let mut missing = wishes
            .into_iter()
            .filter(|(_, is_wished, is_limited)| *is_wished && !is_limited);
        missing.next().map(|(field, ..)| field)
    }
}

fn applied<T: Copy>(wish: Option<Raise<T>>, now: Option<T>, add: fn(T, T) -> T) -> Option<T> {
    match wish? {
        Raise::To(limit) => Some(limit),
        Raise::By(more) => Some(now.map_or(more, |now| add(now, more))),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_plus_adds_and_what_is_not_limited_is_named() {
        let now = BudgetLimits {
            cost: Some(Dollars::new(5.0)),
            tokens: Some(100),
            ..BudgetLimits::default()
        };
        let wish = RaiseWish {
            cost: Some(Raise::By(Dollars::new(2.5))),
            tokens: Some(Raise::To(70)),
            ..RaiseWish::default()
        };
        let applied = wish.applied(&now);
        assert_eq!(
            (applied.cost, applied.tokens),
            (Some(Dollars::new(7.5)), Some(70))
        );
        assert_eq!(wish.unlimited(&now), None);
        let wish = RaiseWish {
            time: Some(Raise::By(Duration::from_secs(5))),
            ..wish
        };
        assert_eq!(wish.unlimited(&now), Some("time"));
    }
}
