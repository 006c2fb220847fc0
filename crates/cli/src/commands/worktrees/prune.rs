//! `worktrees prune`: removes the directories of runs that ended a week ago.

use std::process::ExitCode;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::{count, one_line};
use schemars::JsonSchema;
use serde::Serialize;

use pi_subagents_ground::print::Printer;
use pi_subagents_runs::workspace::{Pruned, prune};

/// Removes what is old, and prints what that was.
pub(super) fn run(runs: &[IndexedRun], printer: Printer) -> ExitCode {
    let pruned = prune(runs, Timestamp::now());
    print(&pruned, printer);
    ExitCode::from(u8::from(!pruned.problems.is_empty()))
}

/// The JSON of `worktrees --prune`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PruneResult<'a> {
    /// The runs whose directories were removed.
    removed: Vec<&'a RunId>,
    /// The runs whose changes were merged or discarded a month ago, and are let go.
    forgotten: &'a [String],
    /// The directories that could not be removed, as sentences.
    problems: &'a [String],
}

fn print(pruned: &Pruned, printer: Printer) {
    if printer.is_json() {
        printer.json(&PruneResult {
            removed: pruned.directories.iter().map(|(run, _)| run).collect(),
            forgotten: &pruned.forgotten,
            problems: &pruned.problems,
        });
        return;
    }
    for (run, name) in &pruned.directories {
        let name = one_line(name);
        printer.data(&format!(
            "{name}: its directory was removed; its result stays  {run}"
        ));
    }
    if !pruned.forgotten.is_empty() {
        let runs = count(pruned.forgotten.len(), "run");
        printer.data(&format!(
            "what {runs} left was merged or discarded a month ago, and is let go"
        ));
    }
    for problem in &pruned.problems {
        printer.complain(problem);
    }
    if pruned.directories.is_empty() && pruned.forgotten.is_empty() {
        printer.note("nothing is old enough: directories go a week after their run");
    }
}
