//! Brings the changes of runs into a checkout, shows what would fit, and sets aside the results
//! that nobody wants. All doors use it; none of it prints or asks.

mod branch_report;
mod fit;
mod labels;
mod merge_inputs;
mod printed_results;
mod report;
mod unwanted_results;

use std::path::PathBuf;

use pi_subagents_git::{
    ChangeOutcome, Conflict, LateSave, Merge, Pin, Recovered, RecoveredAs, Repository,
    WorkspaceError, marked_files, pin,
};
use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_view::receipt_lines;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::one_line;

pub(crate) use self::branch_report::branch;
pub use self::branch_report::{BranchReport, PrintedBranch};
pub use self::fit::Fit;
pub use self::merge_inputs::ToMerge;
pub use self::printed_results::{
    FittingResult, MergedResult, OtherResult, PrintedConflict, PrintedFit, PrintedMerge,
    PrintedOutcome,
};
pub use self::report::MergeReport;
pub use self::unwanted_results::{DiscardReport, Discardable, Uncaptured};
use crate::no_result::NoResult;
use crate::results::{RunResult, failed};
use crate::submodule_changes::{Submodules, submodule_note};
use crate::workspace::{Workspace, WorkspaceState, note_state, take_away};
use pi_subagents_ground::error::CommandError;

/// The form that a merged result has in the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergedAs {
    /// Uncommitted changes, beside the present ones.
    Changes,
    /// A commit of each run on HEAD.
    Commits,
}

/// The fate of files that a merge holds back unless somebody asks for them: copies of files that git
/// was to ignore, and large untracked files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBackFiles {
    /// A result with such copies is not merged, because they often hold secrets. Large files stay in
    /// the directory of their worktree.
    Refused,
    /// They are merged too.
    Merged,
}

/// A run that was to be merged.
pub struct MergedRun {
    pub run: IndexedRun,
    pub outcome: RunMergeOutcome,
}

/// The outcome of one merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunMergeOutcome {
    /// It was tried.
    Tried(ChangeOutcome),
    /// It was merged before, and these places of the checkout are not as it left them.
    ChangedSince {
        run: RunId,
        conflicts: Vec<Conflict>,
    },
    /// It was not tried, because the result holds copies of files that git was to ignore.
    HoldsCopies(Vec<PathBuf>),
    /// It was not tried, because these files of the result have markers of conflicts that nobody
    /// resolved.
    HoldsMarkers(Vec<PathBuf>),
    /// Git could not do it, for this reason.
    Failed(String),
    /// It was not tried, because git could not do one before it.
    NotTried,
    /// There is nothing to merge, for this reason.
    NoResult(String),
}

/// Merges results in the given order, each whole or not at all. A result that was merged loses its
/// worktree, and runs without a result are named.
pub(crate) fn merge(
    to_merge: ToMerge,
    merged_as: MergedAs,
    copies: HeldBackFiles,
) -> Result<MergeReport, CommandError> {
    let ToMerge {
        checkout,
        mut asked,
    } = to_merge;
    let checkout = &checkout;
    if copies == HeldBackFiles::Merged {
        for result in asked.iter_mut().flatten() {
            result.take_large_files().map_err(|error| failed(&error))?;
        }
    }
    let mut merging = Merge::begin(checkout).map_err(|error| failed(&error))?;
    let (mut merged, mut tried) = (Vec::new(), Vec::new());
    let mut has_failed = false;
    for asked in asked {
        let result = match asked {
            Ok(result) => result,
            Err(without) => {
                merged.push(MergedRun::without(without));
                continue;
            }
        };
        // Git may have stopped halfway, for example on a full disk. Nothing is put on top of that,
        // and the results that were merged before it are in.
        let outcome = if has_failed {
            RunMergeOutcome::NotTried
        } else {
            let tried = try_merge(&mut merging, &result, merged_as, copies);
            tried.unwrap_or_else(|error| RunMergeOutcome::Failed(error.to_string()))
        };
        has_failed |= matches!(outcome, RunMergeOutcome::Failed(_));
        let run = result.run.clone();
        merged.push(MergedRun { run, outcome });
        tried.push((result, merged.last().is_some_and(MergedRun::is_in)));
    }
    let mut warnings = interruptions(merging.recovered(), merging.late_saves());
    drop(merging);
    warnings.extend(notes(checkout, tried.iter().map(|(result, _)| result)));
    for (result, _) in tried.iter_mut().filter(|(_, is_in)| *is_in) {
        warnings.extend(tidy(checkout, result).err());
        warnings.extend(left_behind(result));
    }
    Ok(MergeReport { merged, warnings })
}

/// Merges one result, unless there is a reason not to.
fn try_merge(
    merging: &mut Merge,
    result: &RunResult,
    merged_as: MergedAs,
    copies: HeldBackFiles,
) -> Result<RunMergeOutcome, WorkspaceError> {
    if let Some(why) = held_back(result, copies)? {
        return Ok(why);
    }
    let outcome = match merged_as {
        MergedAs::Changes => merging.apply(&result.change),
        MergedAs::Commits => merging.commit(&result.change, &message(&result.run)),
    };
    Ok(match outcome? {
        ChangeOutcome::Conflicts(conflicts) if result.is_merged => RunMergeOutcome::ChangedSince {
            run: result.run.run.clone(),
            conflicts,
        },
        outcome => RunMergeOutcome::Tried(outcome),
    })
}

/// Returns why a result is not to be merged at all, if there is a reason.
fn held_back(
    result: &RunResult,
    copies: HeldBackFiles,
) -> Result<Option<RunMergeOutcome>, WorkspaceError> {
    if copies == HeldBackFiles::Refused
        && let Some(added) = added_copies(result)
    {
        return Ok(Some(RunMergeOutcome::HoldsCopies(added)));
    }
    let marked = marked_files(&result.repository, &result.change)?;
    Ok((!marked.is_empty()).then_some(RunMergeOutcome::HoldsMarkers(marked)))
}

/// Returns the copies of ignored files that a result holds.
fn added_copies(result: &RunResult) -> Option<Vec<PathBuf>> {
    let workspace = result.workspace.as_ref()?;
    let added = workspace.added_copies.clone();
    (!added.is_empty()).then_some(added)
}

impl MergedRun {
    fn without(without: NoResult) -> Self {
        let outcome = RunMergeOutcome::NoResult(without.sentence());
        let run = *without.run;
        Self { run, outcome }
    }

    /// Returns whether the checkout has the change now.
    pub(crate) fn is_in(&self) -> bool {
        match &self.outcome {
            RunMergeOutcome::Tried(ChangeOutcome::Merged { .. } | ChangeOutcome::Nothing) => true,
            RunMergeOutcome::Tried(
                ChangeOutcome::Conflicts(_)
                | ChangeOutcome::NeedsUncommitted(_)
                | ChangeOutcome::InTheWay(_)
                | ChangeOutcome::ChangedMeanwhile(_),
            )
            | RunMergeOutcome::ChangedSince { .. }
            | RunMergeOutcome::HoldsCopies(_)
            | RunMergeOutcome::HoldsMarkers(_)
            | RunMergeOutcome::Failed(_)
            | RunMergeOutcome::NotTried
            | RunMergeOutcome::NoResult(_) => false,
        }
    }

    /// Returns whether its result is there and was not merged.
    pub fn waits(&self) -> bool {
        let is_over = matches!(
            self.outcome,
            RunMergeOutcome::NoResult(_) | RunMergeOutcome::ChangedSince { .. }
        );
        !self.is_in() && !is_over
    }
}

/// Notes that a result was merged, and removes the worktree that it came from.
pub(crate) fn tidy(checkout: &Repository, result: &mut RunResult) -> Result<(), String> {
    let run = &result.run;
    let own = result.workspace.as_ref().and_then(Workspace::path);
    // Somebody who merges from inside it wants to stay there, and no other checkout has it yet.
    if Some(checkout.top()) == own {
        return Ok(());
    }
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", name_of(run));
    pin(
        checkout,
        run.run.as_str(),
        Pin::Merged,
        &result.change.result,
    )
    .map_err(|error| named(&error))?;
    let Some(workspace) = &mut result.workspace else {
        return Ok(());
    };
    if workspace.keeps_files() {
        workspace.merged_in_part = true;
        let written = workspace.write(run.directory.path());
        return written.map_err(|error| named(&error));
    }
    take_away(workspace, run.directory.path(), WorkspaceState::Merged)
        .map_err(|error| named(&error))?;
    for directory in &result.earlier {
        note_state(directory, WorkspaceState::Merged);
    }
    Ok(())
}

/// Says what became of earlier writes that were interrupted, and which files somebody saved while they
/// were written.
pub(crate) fn interruptions(recovered: &[Recovered], late_saves: &[LateSave]) -> Vec<String> {
    let outcomes = recovered.iter().map(|one| {
        let checkout = one.checkout.display();
        match one.recovered_as {
            RecoveredAs::Finished => {
                format!("an earlier merge into {checkout} was interrupted, and was finished first")
            }
            RecoveredAs::TakenBack => {
                format!("an earlier merge into {checkout} was interrupted, and was taken back")
            }
        }
    });
    let late = recovered.iter().flat_map(|one| &one.late_saves);
    let late = late.chain(late_saves).map(|late| {
        let path = one_line(&late.path.display().to_string());
        let kept = late.kept.display();
        format!("{path} was saved while it was merged; that version is in {kept}")
    });
    outcomes.chain(late).collect()
}

/// Names the files that a merge has left in the directory of a worktree.
fn left_behind(result: &RunResult) -> Option<String> {
    let workspace = result.workspace.as_ref()?;
    let words = workspace.merged_in_part.then(|| workspace.left_out_words());
    words.map(|words| format!("{}: not merged: {words}", name_of(&result.run)))
}

/// Says of each run which submodules it has changed, because those are merged apart.
fn notes<'a>(checkout: &Repository, results: impl Iterator<Item = &'a RunResult>) -> Vec<String> {
    let submodules = Submodules::of(checkout);
    let notes = results.flat_map(|result| {
        let run = result.run.run.as_str();
        let changed = submodules.changed_by(run).into_iter();
        changed.map(move |path| {
            let note = submodule_note(&path, run);
            format!("{}: {note}", name_of(&result.run))
        })
    });
    notes.collect()
}

/// Words the commit of a run, with its receipt.
fn message(run: &IndexedRun) -> String {
    let report = RecordedRun::read(&run.directory)
        .ok()
        .map(|run| run.report());
    let receipt = report.and_then(|report| report.receipt);
    let lines = receipt
        .map(|receipt| receipt_lines(&receipt))
        .unwrap_or_default();
    let mut text = format!("{}\n\n", name_of(run));
    for line in &lines {
        text += line.trim();
        text.push('\n');
    }
    if !lines.is_empty() {
        text.push('\n');
    }
    text + &format!("Sub-agent-run: {}\n", run.run)
}

fn name_of(run: &IndexedRun) -> String {
    one_line(&run.name)
}
