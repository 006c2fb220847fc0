//! Gives a run that waits for its budget more of it.

use std::time::Duration;

use pi_subagents_records::{IndexedRun, Ledgers};
use pi_subagents_vocabulary::MoreBudget;
use pi_subagents_vocabulary::text::one_line;

use super::waiting_runs::{PausedRun, used_up};
use crate::acts::{Raise, RaiseWish, raise_budget};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Raises the budgets that have nothing left for a run by half, and says so. The run goes on by itself.
pub fn raise_for(places: &Places, run: &IndexedRun) -> Result<String, CommandError> {
    let used_up = used_up(&Ledgers::of(&places.agent_dir), &run.run);
    let name = one_line(&run.name);
    for denial in &used_up {
        let wish = wish(denial.half_more());
        raise_budget(places, denial.scope.as_str(), &wish)?;
    }
    let paused = PausedRun {
        words: String::new(),
        used_up,
        question: None,
    };
    match paused.raise_words() {
        Some(raised) => Ok(format!("{raised}; {name} continues")),
        None => Err(CommandError::failed(format!(
            "no budget of {name} is used up"
        ))),
    }
}

fn wish(more: MoreBudget) -> RaiseWish {
    let plain = RaiseWish::default();
    match more {
        MoreBudget::Cost(more) => RaiseWish {
            cost: Some(Raise::By(more)),
            ..plain
        },
        MoreBudget::Tokens(more) => RaiseWish {
            tokens: Some(Raise::By(more)),
            ..plain
        },
        MoreBudget::Runs(more) => RaiseWish {
            runs: Some(Raise::By(more)),
            ..plain
        },
        MoreBudget::Seconds(more) => RaiseWish {
            time: Some(Raise::By(Duration::from_secs(more))),
            ..plain
        },
    }
}
