//! `uninstall`: lists what is on this machine, and prints the lines that remove it. It changes
//! nothing itself.

mod clients;
mod program;
mod traces;

use std::process::ExitCode;

use self::traces::{Trace, traces};
use crate::commands::init::tilde;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_runs::owner_process::is_owned;
use pi_subagents_runs::workspace::waiting_results;

/// Names the parts that are not ours to count.
fn yours(agent_dir: &str) -> String {
    format!(
        "
These stay, because you wrote them or git keeps them:
  agents in {agent_dir}/agent-profiles, and the key \"subagents\" of {agent_dir}/settings.json
  branches pi-subagents/* and refs/pi-subagents/* of repositories in which runs had worktrees;
  git worktree prune forgets worktrees whose directory is gone

Servers of web, mcp and fleet work end with the terminal, the client or the service that started them."
    )
}

pub(crate) fn run() -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let printer = Printer::for_people();
    let runs = Store::new(&places.agent_dir).runs().unwrap_or_default();
    printer.data(&running(&runs));
    printer.data("\nThese lines remove everything else. This command has changed nothing.\n\n");
    for trace in traces(&places, &runs) {
        printer.data(&words(&trace));
    }
    let waiting = waiting_results(&runs).len();
    if waiting > 0 {
        printer.data(&format!(
            "\n! {} not merged; pi-subagents worktrees lists them",
            counted(waiting, "result is", "results are")
        ));
    }
    printer.data(&yours(&tilde(&places.agent_dir, &places.home)));
    Ok(ExitCode::SUCCESS)
}

/// Says what runs still, with the line that stops it.
fn running(runs: &[IndexedRun]) -> String {
    let running = runs.iter().filter(|run| run.is_open() && is_owned(run));
    match running.count() {
        0 => "No run is in progress.".to_owned(),
        running => format!(
            "{} in progress. Stop what runs first:\n  pi-subagents stop --all",
            counted(running, "run is", "runs are")
        ),
    }
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn words(trace: &Trace) -> String {
    let size = trace.size.map(pi_subagents_view::figures::bytes);
    let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
    format!("{}{size}\n  {}", trace.name, trace.removal)
}
