//! `budget`: what the runs of a call, of a session or of a day may use together, and what they have
//! used.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_records::Ledgers;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::budgets::FoundBudget;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_view::figures;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{
    Account, AccountState, Allowance, BudgetLimits, Dollars, Measure, RunId, Usage,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::raise_budget::{self, RaiseArgs};
use crate::places::find_places;

/// The number of budgets that are listed without an id.
const LISTED: usize = 20;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ShowBudgetArgs {
    #[command(subcommand)]
    command: Option<BudgetCommand>,
    /// Name of a budget, "day", or the id of a run [default: list the latest budgets]
    #[arg(value_name = "ID")]
    id: Option<String>,
}

#[derive(Subcommand)]
enum BudgetCommand {
    /// Let the runs of a budget use more; runs that wait for it continue at once
    #[command(after_help = raise_budget::EXAMPLES)]
    Raise(RaiseArgs),
}

/// Lists budgets, shows those of an id run by run, or raises one.
pub(crate) fn run(args: &ShowBudgetArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    if let Some(BudgetCommand::Raise(args)) = &args.command {
        return raise_budget::run(args, printer);
    }
    let places = find_places()?;
    let ledgers = Ledgers::of(&places.agent_dir);
    let budgets = if let Some(id) = &args.id {
        FoundBudget::find(&ledgers, id)?
    } else {
        let mut budgets = FoundBudget::read_all(&ledgers)?;
        budgets.truncate(LISTED);
        budgets
    };
    let index = KnownIndex::of(&places);
    let runs = index.runs().map_err(find_failure)?;
    let names: BTreeMap<&RunId, &str> = runs
        .iter()
        .map(|run| (&run.run, run.name.as_str()))
        .collect();
    let budgets = budgets.into_iter().map(ReadBudget);
    let budgets: Vec<ReadBudget> = budgets.collect();
    if printer.is_json() {
        let budgets = budgets.iter().map(|budget| budget.printed(&names));
        printer.json(&BudgetResult {
            budgets: budgets.collect(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    if budgets.is_empty() {
        printer.note("no call, session or day has had a budget yet");
        printer.note(
            "hint: pi-subagents delegate --budget-cost 2 … limits all runs of a call together.",
        );
    }
    for budget in &budgets {
        printer.data(&budget.line());
        if args.id.is_some() {
            for line in budget.tree(&names) {
                printer.data(&line);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A budget as it is printed.
pub(super) struct ReadBudget(pub(super) FoundBudget);

impl ReadBudget {
    /// Returns the budget in one line.
    pub(super) fn line(&self) -> String {
        let used = used_words(&self.0.ledger.limits(), &self.0.ledger.spent());
        let started = self.0.ledger.started();
        let of_runs = match self.0.ledger.limits().runs {
            Some(limit) => format!("{started}/{limit} runs"),
            None => format!("{started} {}", if started == 1 { "run" } else { "runs" }),
        };
        let accounts = self.0.ledger.accounts();
        let running = accounts.filter(|(_, account)| account.state == AccountState::Open);
        let running = match running.count() {
            0 => String::new(),
            count => format!(", {count} running"),
        };
        format!("{}  {used}  {of_runs}{running}", self.0.scope.as_str())
    }

    /// Returns its runs, each under the run whose child has started it.
    fn tree(&self, names: &BTreeMap<&RunId, &str>) -> Vec<String> {
        let mut lines = Vec::new();
        let runs = self.0.ledger.accounts().map(|(run, _)| run);
        for root in runs.filter(|run| self.0.ledger.is_root(run)) {
            self.add_lines(root, 1, names, &mut lines);
        }
        lines
    }

    fn add_lines(
        &self,
        run: &RunId,
        depth: usize,
        names: &BTreeMap<&RunId, &str>,
        lines: &mut Vec<String>,
    ) {
        let Some(account) = self.0.ledger.account_of(run) else {
            return;
        };
        let name = names.get(run).map(|name| one_line(name));
        let name = name.map(|name| format!("{name}  ")).unwrap_or_default();
        let limits = BudgetLimits {
            cost: account.grant.cost,
            tokens: account.grant.tokens,
            ..BudgetLimits::default()
        };
        let used = match account.state {
            AccountState::Open => used_words(&limits, &account.spent),
            AccountState::Waiting | AccountState::Closed { .. } => {
                used_words(&BudgetLimits::default(), &account.spent)
            }
        };
        let state = state_word(account);
        lines.push(format!(
            "{}{name}{state}  {used}  {run}",
            "  ".repeat(depth)
        ));
        for child in self.0.ledger.children(run) {
            self.add_lines(child, depth + 1, names, lines);
        }
    }

    pub(super) fn printed<'a>(&'a self, names: &BTreeMap<&RunId, &'a str>) -> PrintedBudget<'a> {
        let accounts = self
            .0
            .ledger
            .accounts()
            .map(|(run, account)| PrintedAccount {
                run_id: run,
                name: names.get(run).copied(),
                parent: account.parent.as_ref(),
                state: state_word(account),
                grant: account.grant,
                spent: account.spent,
            });
        let mut left = Allowance::default();
        for measure in Measure::ALL {
            measure.set(&mut left, self.0.ledger.left(measure));
        }
        PrintedBudget {
            scope: self.0.scope.as_str(),
            limits: self.0.ledger.limits(),
            spent: self.0.ledger.spent(),
            left,
            started: self.0.ledger.started(),
            runs: accounts.collect(),
        }
    }
}

fn state_word(account: &Account) -> &'static str {
    match account.state {
        AccountState::Waiting => "waiting",
        AccountState::Open => "running",
        AccountState::Closed { has_run: true } => "ended",
        AccountState::Closed { has_run: false } => "not started",
    }
}

/// Returns what is used, and of how much: `$0.42/2.00, 18k/500k tokens`.
fn used_words(limits: &BudgetLimits, spent: &Usage) -> String {
    let cost = match limits.cost {
        Some(limit) => {
            let limit = limit.to_string();
            let limit = limit.trim_start_matches('$').to_owned();
            format!("{}/{limit}", cost_words(spent))
        }
        None => cost_words(spent),
    };
    let used = figures::tokens(spent.counted());
    let tokens = match limits.tokens {
        Some(limit) => format!("{used}/{} tokens", figures::tokens(limit)),
        None => format!("{used} tokens"),
    };
    format!("{cost}, {tokens}")
}

/// Returns a cost; an unknown one is never shown as 0.
fn cost_words(spent: &Usage) -> String {
    match spent.cost {
        Some(cost) => Dollars::new(cost).to_string(),
        None if spent.total() == 0 => Dollars::new(0.0).to_string(),
        None => "—".to_owned(),
    }
}

/// The JSON of `budget`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BudgetResult<'a> {
    pub(super) budgets: Vec<PrintedBudget<'a>>,
}

/// A budget.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PrintedBudget<'a> {
    /// Its name, which begins with `call-`, `session-`, `named-` or `day-`.
    scope: &'a str,
    limits: BudgetLimits,
    /// What all its runs have used.
    spent: Usage,
    /// What is neither used nor granted; null where nothing is limited.
    left: Allowance,
    /// The number of runs that have started.
    started: u64,
    runs: Vec<PrintedAccount<'a>>,
}

/// A run in a budget.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedAccount<'a> {
    run_id: &'a RunId,
    /// The name of its task, if its record is there.
    name: Option<&'a str>,
    /// The run whose child has started it.
    parent: Option<&'a RunId>,
    /// `waiting`, `running`, `ended` or `not started`.
    state: &'static str,
    /// What it may use, all in all.
    grant: Allowance,
    /// What it has used itself.
    spent: Usage,
}
