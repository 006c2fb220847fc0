//! The texts about merges for a model: what happened, and what can be done next.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::RunId;

use pi_subagents_runs::merging::{Fit, MergeReport, MergedAs};
use pi_subagents_runs::results::RunResult;

/// The place of a run's patch, for a model that has to bring it in by hand.
pub(super) struct Patch {
    run: RunId,
    file: Option<PathBuf>,
}

impl Patch {
    pub(super) fn of(result: &RunResult) -> Self {
        let left = result.workspace.as_ref().and_then(|one| one.left.as_ref());
        Self {
            run: result.run.run.clone(),
            file: left.and_then(|left| left.patch.clone()),
        }
    }
}

/// The one who may merge: the model, or the person alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merger {
    /// The model that asks.
    Model,
    /// The user alone.
    User,
}

/// Says what fits, and how to go on.
pub(super) fn of_check(fit: &Fit<'_>, merger: Merger) -> String {
    let mut parts = vec![fit.table()];
    let conflicts = [fit.conflict_lines(), fit.missing_lines()].concat();
    parts.extend(Some(conflicts.join("\n")).filter(|lines| !lines.is_empty()));
    let notes = fit.notes.iter().map(|note| format!("! {note}"));
    let notes: Vec<String> = notes.collect();
    parts.extend(Some(notes.join("\n")).filter(|notes| !notes.is_empty()));
    parts.push(if fit.fits_all() {
        match merger {
            Merger::Model => "All of it fits. merge_subagents without check merges it.".to_owned(),
            Merger::User => {
                "All of it fits. The user takes it with: pi-subagents review".to_owned()
            }
        }
    } else {
        "Merge first what you want to keep; what conflicts with it is then left out and named. A \
         sub-agent that begins after that sees what was merged, and can do the rest again."
            .to_owned()
    });
    parts.join("\n\n")
}

/// Says how each merge ended, where the changes are, and what to do about the others.
pub(super) fn of_merge(
    report: &MergeReport,
    merged_as: MergedAs,
    patches: &[Patch],
    checkout: &Path,
) -> String {
    let warnings = report.warnings.iter().map(|warning| format!("! {warning}"));
    let lines: Vec<String> = report.lines().into_iter().chain(warnings).collect();
    let mut parts = vec![lines.join("\n")];
    if report.has_changed_the_checkout() {
        let place = checkout.display();
        parts.push(match merged_as {
            MergedAs::Changes => format!(
                "What was merged is in {place} as uncommitted changes. Look at it, and run the tests."
            ),
            MergedAs::Commits => format!(
                "What was merged is committed in {place}. Look at it, and run the tests."
            ),
        });
    }
    parts.extend(left_out(report, patches));
    parts.join("\n\n")
}

/// Says what to do about results that were left out.
fn left_out(report: &MergeReport, patches: &[Patch]) -> Option<String> {
    let out: Vec<&RunId> = report
        .merged
        .iter()
        .filter(|merged| merged.waits())
        .map(|merged| &merged.run.run)
        .collect();
    if out.is_empty() {
        return None;
    }
    let files: Vec<String> = patches
        .iter()
        .filter(|patch| out.contains(&&patch.run))
        .filter_map(|patch| Some(patch.file.as_ref()?.display().to_string()))
        .collect();
    let mut words = "What was not merged waits unchanged. Make its change here yourself, or \
                     delegate it again: a new worktree begins with this checkout as it is now."
        .to_owned();
    if !files.is_empty() {
        words = format!("{words} Its patch: {}", files.join(", "));
    }
    Some(words)
}
