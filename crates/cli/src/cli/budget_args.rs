//! Options for what all runs of a call may use together.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use clap::Args;
use pi_subagents_calls::BudgetWishes;
use pi_subagents_vocabulary::{BudgetLimits, Dollars};

use super::run_args::{parse_dollars, parse_tokens};

/// The options of a budget.
#[derive(Args, Clone, Default)]
pub(crate) struct BudgetArgs {
    /// Cost limit of all runs of this call together, in dollars. A task for which nothing is left is not started
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    budget_cost: Option<Dollars>,
    /// Token limit of all runs of this call together, such as 500k. Tokens read from a cache are not counted
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    budget_tokens: Option<u64>,
    /// Number of runs that may start in this budget
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_runs: Option<u64>,
    /// Time that all runs of this call may take together, from the first start, such as 90s, 30m or 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget_time: Option<Duration>,
    /// Name of a budget that several calls share. The limits given here are those of that budget [default limits: those it has, or the setting subagents.budget.session]
    #[arg(long, value_name = "NAME")]
    budget: Option<String>,
    /// How long runs wait when a budget is used up, until somebody raises it with "budget raise". They keep their work; 0s to end them at once [default: 1h on a terminal, else 0s]
    #[arg(long, value_name = "TIME", value_parser = parse_wait)]
    budget_wait: Option<Duration>,
}

/// The time that runs wait where a person sees that they do.
const ON_A_TERMINAL: Duration = Duration::from_hours(1);

/// Returns the time that runs wait if nobody says it: only somebody at a terminal sees the question.
fn usual_patience() -> Option<Duration> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    is_terminal.then_some(ON_A_TERMINAL)
}

fn parse_wait(text: &str) -> Result<Duration, String> {
    match text {
        "0" | "0s" => Ok(Duration::ZERO),
        text => parse_time(text),
    }
}

impl BudgetArgs {
    /// Returns what was asked for.
    pub(crate) fn wishes(&self) -> BudgetWishes {
        BudgetWishes {
            limits: BudgetLimits {
                cost: self.budget_cost,
                tokens: self.budget_tokens,
                runs: self.budget_runs,
                seconds: self.budget_time,
            },
            name: self.budget.clone(),
            patience: self.budget_wait.or_else(usual_patience),
            session: None,
        }
    }
}

pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text
        .char_indices()
        .find(|(_, letter)| letter.is_alphabetic())
    {
        Some((place, _)) => text.split_at(place),
        None => (text, "s"),
    };
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => 0,
    };
    let number = number.parse::<u64>().ok().filter(|number| *number > 0);
    let time = number.and_then(|number| number.checked_mul(seconds));
    time.filter(|time| *time > 0)
        .map(Duration::from_secs)
        .ok_or_else(|| {
            "a time is a number of seconds, minutes or hours, such as 90s, 30m or 2h".to_owned()
        })
}
