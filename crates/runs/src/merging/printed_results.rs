//! Merges and checks as programs get them.

use std::path::PathBuf;

use pi_subagents_git::{ChangeOutcome, Conflict};
use pi_subagents_vocabulary::{RunId, Status};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MergedRun, RunMergeOutcome};
use crate::find::status_of;
use crate::no_result::PrintedNoResult;
use crate::workspace::WorkspaceFile;

/// The JSON of `merge`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrintedMerge<'a> {
    /// The result of each run that was named, in their order.
    pub(super) results: Vec<MergedResult<'a>>,
    /// Sentences about what could not be tidied up afterwards.
    pub(super) warnings: &'a [String],
}

/// The result of a run, after the merge.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MergedResult<'a> {
    run_id: &'a RunId,
    /// The name of the task.
    name: &'a str,
    /// True if the changes are in the checkout now.
    merged: bool,
    /// The state of the run.
    status: Status,
    #[serde(flatten)]
    outcome: PrintedOutcome,
}

/// The JSON of `merge --check`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedFit<'a> {
    /// True if everything could be merged.
    pub(super) clean: bool,
    /// The result of each run that was named, in their order.
    pub(super) results: Vec<FittingResult<'a>>,
    /// The changes that are merged elsewhere, as sentences.
    pub(super) warnings: &'a [String],
    /// The runs that have no result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) without_result: Vec<PrintedNoResult<'a>>,
}

/// The result of a run, compared with the checkout and with other results.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FittingResult<'a> {
    pub(super) run_id: &'a RunId,
    /// The name of the task.
    pub(super) name: &'a str,
    /// The conflicts with the checkout.
    pub(super) checkout: Vec<PrintedConflict>,
    /// The conflicts with the other results.
    pub(super) others: Vec<OtherResult<'a>>,
    #[serde(flatten)]
    pub(super) held_back: PrintedOutcome,
}

/// The conflicts with another result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherResult<'a> {
    pub(super) run_id: &'a RunId,
    pub(super) conflicts: Vec<PrintedConflict>,
}

/// A conflict in a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedConflict {
    path: PathBuf,
    /// The kind, as git names it, or `driver`, or `in the way`.
    kind: String,
    /// The first and the last line of each place in the first file, which is that of the checkout
    /// if the checkout is one of the two.
    lines: Vec<(usize, usize)>,
    /// The same places in the second file.
    other_lines: Vec<(usize, usize)>,
}

/// The outcome of a merge: one of these fields says it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedOutcome {
    /// The files that have changed in the checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<WorkspaceFile>>,
    /// The commit that was made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The conflicts that kept it from being merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<Vec<PrintedConflict>>,
    /// True if it was merged before, and the checkout has changed since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    merged_before: bool,
    /// The conflicts with uncommitted changes that the run began from and that are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs_uncommitted: Option<Vec<PrintedConflict>>,
    /// The files of the checkout that git does not keep and that would be overwritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_the_way: Option<Vec<PathBuf>>,
    /// A file that somebody changed during the merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_meanwhile: Option<String>,
    /// The copies of ignored files that the run has added to git.
    #[serde(skip_serializing_if = "Option::is_none")]
    added_copies: Option<Vec<PathBuf>>,
    /// The files that have conflict markers in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    markers: Option<Vec<PathBuf>>,
    /// The reason why there is nothing to merge, or why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// False if it was not tried, because another result was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<bool>,
}

impl<'a> MergedResult<'a> {
    pub(super) fn of(merged: &'a MergedRun) -> Self {
        Self {
            run_id: &merged.run.run,
            name: &merged.run.name,
            merged: merged.is_in(),
            status: status_of(&merged.run),
            outcome: PrintedOutcome::of(&merged.outcome),
        }
    }
}

impl PrintedConflict {
    /// Describes conflicts for programs.
    pub fn all(conflicts: &[Conflict]) -> Vec<Self> {
        let described = conflicts.iter().map(|conflict| Self {
            path: conflict.path.clone(),
            kind: conflict.kind.clone(),
            lines: conflict.lines.clone(),
            other_lines: conflict.other_lines.clone(),
        });
        described.collect()
    }
}

impl PrintedOutcome {
    /// Says how a merge ended, or would end.
    pub(super) fn of(outcome: &RunMergeOutcome) -> Self {
        let nothing = Self::default();
        match outcome {
            RunMergeOutcome::Tried(outcome) => Self::of_tried(outcome),
            RunMergeOutcome::ChangedSince { conflicts, .. } => Self {
                merged_before: true,
                conflicts: Some(PrintedConflict::all(conflicts)),
                ..nothing
            },
            RunMergeOutcome::HoldsCopies(files) => Self {
                added_copies: Some(files.clone()),
                ..nothing
            },
            RunMergeOutcome::HoldsMarkers(files) => Self {
                markers: Some(files.clone()),
                ..nothing
            },
            RunMergeOutcome::Failed(why) | RunMergeOutcome::NoResult(why) => Self {
                error: Some(why.clone()),
                ..nothing
            },
            RunMergeOutcome::NotTried => Self {
                tried: Some(false),
                ..nothing
            },
        }
    }

    fn of_tried(outcome: &ChangeOutcome) -> Self {
        let nothing = Self::default();
        match outcome {
            ChangeOutcome::Merged { files, commit } => Self {
                files: Some(files.iter().map(WorkspaceFile::of).collect()),
                commit: commit.as_ref().map(|commit| commit.as_str().to_owned()),
                ..nothing
            },
            ChangeOutcome::Nothing => Self {
                files: Some(Vec::new()),
                ..nothing
            },
            ChangeOutcome::Conflicts(conflicts) => Self {
                conflicts: Some(PrintedConflict::all(conflicts)),
                ..nothing
            },
            ChangeOutcome::NeedsUncommitted(conflicts) => Self {
                needs_uncommitted: Some(PrintedConflict::all(conflicts)),
                ..nothing
            },
            ChangeOutcome::InTheWay(files) => Self {
                in_the_way: Some(files.clone()),
                ..nothing
            },
            ChangeOutcome::ChangedMeanwhile(file) => Self {
                changed_meanwhile: Some(file.clone()),
                ..nothing
            },
        }
    }
}
