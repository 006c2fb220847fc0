//! The outcome of each merge, for people and for programs.

use pi_subagents_git::{Conflict, Outcome};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Status;
use pi_subagents_vocabulary::text::{first_of, one_line};
use serde_json::{Value, json};

use super::fit::conflicts_json;
use super::labels::labels;
use super::{MergeOutcome, Merged};
use crate::find::status_of;
use crate::workspace::{WorkspaceFile, files_words, named, place};

/// The largest number of conflicts that are named in a line.
const MOST_NAMED: usize = 3;

/// The outcomes of some merges.
pub struct MergeReport {
    pub merged: Vec<Merged>,
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
                line + &caution.unwrap_or_default()
            })
            .collect()
    }

    /// Describes the same for programs.
    pub fn to_json(&self) -> Value {
        let runs: Vec<Value> = self.merged.iter().map(to_json).collect();
        json!({ "runs": runs, "warnings": self.warnings })
    }

    /// Returns how many runs are in the checkout now.
    pub fn merged_count(&self) -> usize {
        self.merged.iter().filter(|merged| merged.is_in()).count()
    }

    /// Returns the first run with conflicts that its sub-agent could resolve in its worktree.
    pub fn first_conflicting(&self) -> Option<&IndexedRun> {
        let is_conflict =
            |merged: &&Merged| matches!(merged.outcome, MergeOutcome::Tried(Outcome::Conflicts(_)));
        let first = self.merged.iter().find(is_conflict)?;
        Some(&first.run).filter(|run| run.owner.fleet.is_none())
    }

    /// Returns whether the checkout has changed.
    pub fn has_changed_the_checkout(&self) -> bool {
        let is_change =
            |merged: &Merged| matches!(merged.outcome, MergeOutcome::Tried(Outcome::Merged { .. }));
        self.merged.iter().any(is_change)
    }
}

impl Merged {
    /// Says that a run whose changes are in the checkout now did not end as it should.
    fn caution(&self) -> Option<&'static str> {
        if !self.is_in() {
            return None;
        }
        match status_of(&self.run) {
            Status::Failed => Some("but its run failed"),
            Status::Aborted => Some("but its run was stopped before it was done"),
            Status::Queued | Status::Running | Status::Completed => None,
        }
    }
}

/// Says how the merge of a run ended, or would end.
pub(super) fn outcome_line(name: &str, outcome: &MergeOutcome) -> String {
    let outcome = match outcome {
        MergeOutcome::Tried(outcome) => outcome,
        MergeOutcome::HoldsCopies(files) => {
            return format!(
                "✗ {name}: not merged; it added {}, which git ignores and .worktreeinclude had \
                 copied; --force merges it all the same",
                named(files)
            );
        }
        MergeOutcome::ChangedSince { run, conflicts } => {
            return format!(
                "✗ {name}: merged before, and not merged again: {} is different here now; git diff refs/pi-subagents/runs/{run}/result shows how, and git restore --source with that name takes a file back",
                places(conflicts)
            );
        }
        MergeOutcome::HoldsMarkers(files) => {
            return format!(
                "✗ {name}: not merged; conflict markers are left in {}",
                named(files)
            );
        }
        MergeOutcome::Failed(why) => return format!("✗ {name}: not merged; {}", one_line(why)),
        MergeOutcome::NotTried => {
            return format!("✗ {name}: not tried, because the one before it could not be merged");
        }
        MergeOutcome::NoResult(why) => return format!("✗ {why}"),
    };
    match outcome {
        Outcome::Merged { files, commit } => {
            let files: Vec<WorkspaceFile> = files.iter().map(WorkspaceFile::of).collect();
            let words = files_words(&files);
            match commit {
                Some(commit) => format!("✓ {name}: merged as {}, {words}", commit.short()),
                None => format!("✓ {name}: merged, {words}"),
            }
        }
        Outcome::Nothing => format!("✓ {name}: this checkout has its changes already"),
        Outcome::Conflicts(conflicts) => {
            format!(
                "✗ {name}: not merged; conflicts with this checkout in {}",
                places(conflicts)
            )
        }
        Outcome::NeedsUncommitted(conflicts) => format!(
            "✗ {name}: not merged; it builds on what is not committed here ({}), so commit that \
             first or merge without --commit",
            places(conflicts)
        ),
        Outcome::InTheWay(files) => {
            format!(
                "✗ {name}: not merged; it would overwrite {}, which git does not keep; move it away first",
                named(files)
            )
        }
        Outcome::ChangedMeanwhile(file) => {
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

fn to_json(merged: &Merged) -> Value {
    let mut json = json!({
        "runId": merged.run.run.as_str(),
        "name": merged.run.name,
        "merged": merged.is_in(),
        "status": status_of(&merged.run).as_str(),
    });
    describe(&merged.outcome, &mut json);
    json
}

/// Adds to the description of a run how its merge ended, or would end.
pub(super) fn describe(outcome: &MergeOutcome, json: &mut Value) {
    let (key, value) = match outcome {
        MergeOutcome::Tried(outcome) => return describe_tried(outcome, json),
        MergeOutcome::ChangedSince { conflicts, .. } => {
            json["mergedBefore"] = true.into();
            ("conflicts", conflicts_json(conflicts))
        }
        MergeOutcome::HoldsCopies(files) => ("addedCopies", json!(files)),
        MergeOutcome::HoldsMarkers(files) => ("markers", json!(files)),
        MergeOutcome::Failed(why) | MergeOutcome::NoResult(why) => ("error", json!(why)),
        MergeOutcome::NotTried => ("tried", json!(false)),
    };
    json[key] = value;
}

fn describe_tried(outcome: &Outcome, json: &mut Value) {
    let (key, value) = match outcome {
        Outcome::Merged { files, commit } => {
            let files: Vec<WorkspaceFile> = files.iter().map(WorkspaceFile::of).collect();
            if let Some(commit) = commit {
                json["commit"] = commit.as_str().into();
            }
            ("files", json!(files))
        }
        Outcome::Nothing => ("files", json!([])),
        Outcome::Conflicts(conflicts) => ("conflicts", conflicts_json(conflicts)),
        Outcome::NeedsUncommitted(conflicts) => ("needsUncommitted", conflicts_json(conflicts)),
        Outcome::InTheWay(files) => {
            let files: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            ("inTheWay", json!(files))
        }
        Outcome::ChangedMeanwhile(file) => ("changedMeanwhile", json!(file)),
    };
    json[key] = value;
}
