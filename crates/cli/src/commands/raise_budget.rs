//! `budget raise`: lets the runs of a budget use more.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_records::Ledgers;
use pi_subagents_runs::acts::{self, Raise, RaiseWish};
use pi_subagents_runs::budgets::FoundBudget;
use pi_subagents_vocabulary::Dollars;

use super::budget::{BudgetResult, ReadBudget};
use crate::cli::{parse_dollars, parse_time, parse_tokens};
use crate::places::find_places;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents budget raise day --cost +5
  pi-subagents budget raise nightly --tokens 2m --runs +20";

#[derive(Args)]
pub(crate) struct RaiseArgs {
    /// Name of a budget, "day", or the id of a run in it
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    limits: RaisedLimits,
}

/// The new limits, at least one.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct RaisedLimits {
    /// New limit in dollars, or with a plus how much more than now
    #[arg(long, value_name = "[+]DOLLARS", value_parser = parse_cost)]
    cost: Option<Raise<Dollars>>,
    /// New limit of tokens, such as 2m, or with a plus how many more than now
    #[arg(long, value_name = "[+]N", value_parser = parse_number)]
    tokens: Option<Raise<u64>>,
    /// New number of runs that may start, or with a plus how many more than now
    #[arg(long, value_name = "[+]N", value_parser = parse_number)]
    runs: Option<Raise<u64>>,
    /// New time from the first start, such as 2h, or with a plus how much more than now
    #[arg(long, value_name = "[+]TIME", value_parser = parse_duration)]
    time: Option<Raise<Duration>>,
}

/// Raises a budget, and prints it as it is now.
pub(super) fn run(args: &RaiseArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let limits = &args.limits;
    let wish = RaiseWish {
        cost: limits.cost,
        tokens: limits.tokens,
        runs: limits.runs,
        time: limits.time,
    };
    let raised = acts::raise_budget(&places, &args.id, &wish)?;
    let ledgers = Ledgers::of(&places.agent_dir);
    let budgets = FoundBudget::find(&ledgers, raised.scope.as_str())?;
    let budgets: Vec<ReadBudget> = budgets.into_iter().map(ReadBudget).collect();
    if printer.is_json() {
        let names = BTreeMap::new();
        let budgets = budgets.iter().map(|budget| budget.printed(&names));
        printer.json(&BudgetResult {
            budgets: budgets.collect(),
        });
    } else {
        for budget in &budgets {
            printer.data(&budget.line());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse_cost(text: &str) -> Result<Raise<Dollars>, String> {
    parse(text, parse_dollars)
}

fn parse_number(text: &str) -> Result<Raise<u64>, String> {
    parse(text, parse_tokens).map_err(|_| {
        "a limit is a whole number above 0, such as 200000, 200k or 2m, with a plus to add to it"
            .to_owned()
    })
}

fn parse_duration(text: &str) -> Result<Raise<Duration>, String> {
    parse(text, parse_time)
}

fn parse<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Raise<T>, String> {
    match text.strip_prefix('+') {
        Some(more) => read(more).map(Raise::By),
        None => read(text).map(Raise::To),
    }
}
