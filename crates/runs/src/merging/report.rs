//! The outcome of each merge, for people and for programs.

use pi_subagents_git::{ChangeOutcome, Conflict};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Status;
use pi_subagents_vocabulary::text::{first_of, one_line};

use super::labels::labels;
use super::printed_results::{MergedResult, PrintedMerge};
use super::{MergedRun, RunMergeOutcome};
use crate::find::status_of;
use crate::workspace::{WorkspaceFile, files_words, named, place};

/// The largest number of conflicts that are named in a line.
const MOST_NAMED: usize = 3;

/// The outcomes of some merges.
pub struct MergeReport {
    pub merged: Vec<MergedRun>,
    /// Sentences about what could not be tidied up afterwards.
    pub warnings: Vec<String>,
}

impl MergeReport {
    /// Says of each run how its merge ended.
    pub fn lines(&self) -> Vec<String> {
        let labels = labels(self.merged.iter().map(|merged| &merged.run));
        let lines = labels.iter().zip(&self.merged);
        lines
            .map(|(label, merged)| {
                let line = outcome_line(label, &merged.outcome);
                let caution = merged.caution().map(|words| format!(", {words}"));
                let rest = match &merged.outcome {
                    RunMergeOutcome::NoResult(_) => format!("  {}", merged.run.run),
                    RunMergeOutcome::Tried(_)
                    | RunMergeOutcome::HoldsCopies(_)
                    | RunMergeOutcome::ChangedSince { .. }
                    | RunMergeOutcome::HoldsMarkers(_)
                    | RunMergeOutcome::Failed(_)
                    | RunMergeOutcome::NotTried => caution.unwrap_or_default(),
                };
                line + &rest
            })
            .collect()
    }

    /// Describes the same for programs.
    pub fn printed(&self) -> PrintedMerge<'_> {
        PrintedMerge {
            results: self.merged.iter().map(MergedResult::of).collect(),
            warnings: &self.warnings,
        }
    }

    /// Returns how many runs are in the checkout now.
    pub fn merged_count(&self) -> usize {
        self.merged.iter().filter(|merged| merged.is_in()).count()
    }

    /// Returns the first run with conflicts that its sub-agent could resolve in its worktree.
    pub fn first_conflicting(&self) -> Option<&IndexedRun> {
        let is_conflict = |merged: &&MergedRun| {
            matches!(
                merged.outcome,
                RunMergeOutcome::Tried(ChangeOutcome::Conflicts(_))
            )
        };
        let first = self.merged.iter().find(is_conflict)?;
        Some(&first.run).filter(|run| run.owner.fleet.is_none())
    }

    /// Returns whether the checkout has changed.
    pub fn has_changed_the_checkout(&self) -> bool {
        let is_change = |merged: &MergedRun| {
            matches!(
                merged.outcome,
                RunMergeOutcome::Tried(ChangeOutcome::Merged { .. })
            )
        };
        self.merged.iter().any(is_change)
    }
}

impl MergedRun {
    /// Says that a run whose changes are in the checkout now did not end as it should.
    fn caution(&self) -> Option<&'static str> {
        if !self.is_in() {
            return None;
        }
        match status_of(&self.run) {
            Status::Failed => Some("but its run failed"),
            Status::Stopped => Some("but its run was stopped before it was done"),
            Status::Parked => Some("but its run waits for an answer"),
            Status::Queued | Status::Running | Status::Waiting | Status::Completed => None,
        }
    }
}

/// Says how the merge of a run ended, or would end.
pub(super) fn outcome_line(name: &str, outcome: &RunMergeOutcome) -> String {
    let outcome = match outcome {
        RunMergeOutcome::Tried(outcome) => outcome,
        RunMergeOutcome::HoldsCopies(files) => {
            return format!(
                "✗ {name}: not merged; it added {}, which git ignores and .worktreeinclude had \
                 copied; --force merges it all the same",
                named(files)
            );
        }
        RunMergeOutcome::ChangedSince { run, conflicts } => {
            return format!(
                "✗ {name}: merged before, and not merged again: {} is different here now; git diff refs/pi-subagents/runs/{run}/result shows how, and git restore --source with that name takes a file back",
                places(conflicts)
            );
        }
        RunMergeOutcome::HoldsMarkers(files) => {
            return format!(
                "✗ {name}: not merged; conflict markers are left in {}",
                named(files)
            );
        }
        RunMergeOutcome::Failed(why) => return format!("✗ {name}: not merged; {}", one_line(why)),
        RunMergeOutcome::NotTried => {
            return format!("✗ {name}: not tried, because the one before it could not be merged");
        }
        RunMergeOutcome::NoResult(why) => return format!("✗ {why}"),
    };
    match outcome {
        ChangeOutcome::Merged { files, commit } => {
            let files: Vec<WorkspaceFile> = files.iter().map(WorkspaceFile::of).collect();
            let words = files_words(&files);
            match commit {
                Some(commit) => format!("✓ {name}: merged as {}, {words}", commit.short()),
                None => format!("✓ {name}: merged, {words}"),
            }
        }
        ChangeOutcome::Nothing => format!("✓ {name}: this checkout has its changes already"),
        ChangeOutcome::Conflicts(conflicts) => {
            format!(
                "✗ {name}: not merged; conflicts with this checkout in {}",
                places(conflicts)
            )
        }
        ChangeOutcome::NeedsUncommitted(conflicts) => format!(
            "✗ {name}: not merged; it builds on what is not committed here ({}), so commit that \
             first or merge without --commit",
            places(conflicts)
        ),
        ChangeOutcome::InTheWay(files) => {
            format!(
                "✗ {name}: not merged; it would overwrite {}, which git does not keep; move it away first",
                named(files)
            )
        }
        ChangeOutcome::ChangedMeanwhile(file) => {
            format!(
                "✗ {name}: not merged; {} changed while merging; try again",
                one_line(file)
            )
        }
    }
}

fn places(conflicts: &[Conflict]) -> String {
    first_of(conflicts.iter().map(place), MOST_NAMED, ", ")
}
