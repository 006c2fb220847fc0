//! `merge --resolve`: the sub-agent that made a change resolves its conflicts, in its own worktree.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend;
use std::path::PathBuf;
use std::process::ExitCode;

use pi_subagents_git::{Conflict, Repository, Snapshot, marked_files};
use pi_subagents_records::{IndexedRun, runs_of_session};
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::one_line;
use schemars::JsonSchema;
use serde::Serialize;

use super::changes_of;
use crate::cli::RunArgs;
use crate::commands::answer_output::{self, CallResult};
use crate::commands::delegate::caller;
use crate::commands::resume::go_on;
use pi_subagents_calls::Answer;
use pi_subagents_calls::acts::Resumption;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::of_one_conversation;
use pi_subagents_runs::merging::{Fit, PrintedConflict};
use pi_subagents_runs::results::{RunResult, failed};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::workspace::{EarlierWorktree, Workspace, first_place, named};

pub(super) fn run(ids: &[String], printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let [_] = ids else {
        let words = "--resolve takes one run: each is resolved on what the one before has left";
        return Err(CommandError::usage(words));
    };
    let caller = caller(&RunArgs::default())?;
    let places = caller.places.clone();
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let typed = TypedIds::newest(&index, &places, printer);
    let (checkout, mut results, _) = changes_of(typed, ids)?.parted();
    let Some(result) = results.pop() else {
        return Err(CommandError::not_found("there is no such run"));
    };
    let conflicts = conflicts_of(&checkout, &result)?;
    if conflicts.is_empty() {
        print_that_it_fits(&result.run, printer);
        return Ok(ExitCode::SUCCESS);
    }
    if conflicts.iter().all(Conflict::is_in_the_way) {
        return Err(nobody_can(&result.run, &conflicts));
    }
    let workspace = worktree_of(&result)?;
    // The run is known now, and nobody has to read a second time which it is.
    let session = typed.conversation(result.run.run.as_str());
    let session = session
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents merge {run} --resolve")))?;
    let now = Snapshot::take(&checkout)
        .map_err(|error| failed(&error))?
        .commit;
    let mut resumption = Resumption::of(session, caller)?;
    resumption.caller.overrides.worktree = Some(EarlierWorktree {
        workspace,
        onto: Some(now.to_string()),
    });
    let answer = go_on(resumption, prompt(&conflicts), printer)?;
    let resolved = Resolved {
        result: latest_of(&index, &result)?,
    };
    resolved.report(&checkout, &answer, &places, printer)
}

/// The JSON of `merge --resolve`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResolveResult<'a> {
    /// True if the result can be merged now.
    resolved: bool,
    run_id: &'a RunId,
    /// The files that have conflict markers in them.
    markers: Vec<PathBuf>,
    /// The conflicts with the checkout that are left.
    conflicts: Vec<PrintedConflict>,
    /// The call of the sub-agent, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallResult>,
}

fn print_that_it_fits(run: &IndexedRun, printer: Printer) {
    if printer.is_json() {
        printer.json(&ResolveResult {
            resolved: true,
            run_id: &run.run,
            markers: Vec::new(),
            conflicts: Vec::new(),
            call: None,
        });
        return;
    }
    let name = one_line(&run.name);
    printer.data(&format!(
        "✓ {name}: fits this checkout; nothing is to be resolved"
    ));
}

/// Returns the error for a result that only files outside git keep from being merged.
fn nobody_can(run: &IndexedRun, conflicts: &[Conflict]) -> CommandError {
    let files: Vec<PathBuf> = conflicts.iter().map(|one| one.path.clone()).collect();
    let (name, files) = (one_line(&run.name), named(&files));
    let words = format!("{name} would overwrite {files} in this checkout, which git does not keep");
    CommandError::failed(words).hint("Its sub-agent cannot resolve that; move what is in the way.")
}

/// Finds the latest result of the conversation that a result belongs to.
fn latest_of(index: &KnownIndex, earlier: &RunResult) -> Result<RunResult, CommandError> {
    let run = &earlier.run;
    let runs = runs_of_session(&index.runs().map_err(find_failure)?, &run.session);
    let runs = of_one_conversation(runs, Some(&run.run));
    let which = |error| ask_which(&error, |run| format!("pi-subagents merge {run} --check"));
    RunResult::of_latest(&runs.map_err(which)?)
}

fn conflicts_of(checkout: &Repository, result: &RunResult) -> Result<Vec<Conflict>, CommandError> {
    let fit = Fit::of(checkout, std::slice::from_ref(result))?;
    Ok(fit.with_checkout(0).to_vec())
}

fn worktree_of(result: &RunResult) -> Result<Workspace, CommandError> {
    let workspace = result.workspace.clone();
    let workspace = workspace.filter(|workspace| workspace.worktree.is_some());
    workspace.ok_or_else(|| {
        let words = format!("{} had no worktree on this machine", result.run.run);
        CommandError::usage(words)
            .hint("pi-subagents resume tells its sub-agent what to do about the conflicts.")
    })
}

/// Words what the sub-agent is to do.
fn prompt(conflicts: &[Conflict]) -> String {
    let mut lines = vec![
        "Your caller's checkout has changed since you began, and both of you have changed the same \
         places. The checkout was merged into your worktree, with conflict markers in the files: \
         your version stands between <<<<<<< and =======, your caller's between ======= and >>>>>>>."
            .to_owned(),
        "Resolve every conflict so that the intentions of both are kept, remove all markers, and \
         check that the result works:"
            .to_owned(),
    ];
    // Lines would be those of neither file that the sub-agent sees: its own has markers now.
    let resolvable = conflicts
        .iter()
        .filter(|conflict| !conflict.is_in_the_way());
    let named = resolvable.map(|conflict| {
        let path = one_line(&conflict.path.display().to_string());
        format!("- {path} ({})", conflict.kind)
    });
    lines.extend(named);
    lines.join("\n")
}

/// The conflicts of a run after its sub-agent has worked on them.
struct Resolved {
    result: RunResult,
}

impl Resolved {
    /// Checks the result again, and prints whether it can be merged now.
    fn report(
        &self,
        checkout: &Repository,
        answer: &Answer,
        places: &Places,
        printer: Printer,
    ) -> Result<ExitCode, CommandError> {
        let left = conflicts_of(checkout, &self.result)?;
        let marked = self.marked()?;
        let is_resolved = left.is_empty() && marked.is_empty();
        if printer.is_json() {
            printer.json(&ResolveResult {
                resolved: is_resolved,
                run_id: &self.result.run.run,
                markers: marked,
                conflicts: PrintedConflict::all(&left),
                call: Some(CallResult::of(answer, false)),
            });
        } else {
            answer_output::print(answer, places, printer);
            printer.data(&self.line(&left, &marked));
        }
        let of_run = exit::of_runs(answer.exit_codes());
        Ok(if is_resolved {
            of_run
        } else {
            ExitCode::from(1)
        })
    }

    fn marked(&self) -> Result<Vec<PathBuf>, CommandError> {
        let marked = marked_files(&self.result.repository, &self.result.change);
        marked.map_err(|error| failed(&error))
    }

    fn line(&self, left: &[Conflict], marked: &[PathBuf]) -> String {
        let name = one_line(&self.result.run.name);
        match (left.is_empty(), marked.is_empty()) {
            (true, true) => {
                let run = &self.result.run.run;
                format!("✓ {name}: fits this checkout now (pi-subagents merge {run})")
            }
            (false, _) => {
                let places = first_place(left);
                format!("✗ {name}: still conflicts with this checkout in {places}")
            }
            (true, false) => {
                format!("✗ {name}: conflict markers are left in {}", named(marked))
            }
        }
    }
}
