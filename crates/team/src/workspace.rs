//! The worktree of a run or the result that a fleet sent back, and what comes of merging it, as a
//! program gets them.

use std::path::PathBuf;

use pi_subagents_git::{self as workspaces, Conflict};
use pi_subagents_vocabulary::RunId;

use pi_subagents_runs::merging;
use pi_subagents_runs::workspace as kept;

/// The git worktree in which an isolated task worked, or the result of a task that a fleet did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskWorkspace {
    /// Its directory, which is gone unless something waits in it; none if a fleet did the task.
    pub path: Option<PathBuf>,
    /// The branch that was made for it; none if a fleet did the task.
    pub branch: Option<String>,
    /// Its state.
    pub state: TaskWorkspaceState,
    /// The number of commits that the sub-agent made.
    pub commits: u64,
    /// The files that differ from where it began.
    pub files: Vec<ChangedFile>,
    /// The same as a patch, unless that has more than 20 MB.
    pub patch: Option<PathBuf>,
    /// Sentences about what is missing in it or was not kept.
    pub notes: Vec<String>,
}

/// The state of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskWorkspaceState {
    /// A sub-agent may be working in it.
    InUse,
    /// The changes of the sub-agent wait to be merged or discarded.
    Waiting,
    /// The changes of the sub-agent are only in the directory, because git could not keep them.
    NotKept,
    /// The sub-agent changed nothing.
    Unchanged,
    /// Its changes were merged.
    Merged,
    /// Its changes were discarded.
    Discarded,
}

/// A file that a sub-agent has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedFile {
    /// Its path in the repository.
    pub path: PathBuf,
    /// The kind of change: `added`, `modified`, `deleted`, `renamed` or `type changed`.
    pub status: String,
    /// The lines that were added and removed; none for a binary file.
    pub lines: Option<(u64, u64)>,
    /// The permissions before and after, if they have changed: `644 → 755`.
    pub mode: Option<String>,
}

/// The end of one run's merge.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The run.
    pub run: RunId,
    /// The outcome.
    pub outcome: MergeOutcome,
}

/// The outcome of a merge. Unless the files were merged, nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeOutcome {
    /// These files were written, as uncommitted changes.
    Merged(Vec<ChangedFile>),
    /// The checkout has all of it already.
    AlreadyThere,
    /// The change and the checkout cannot both be.
    Conflicts(Vec<Conflict>),
    /// These files, which git does not know, would have been overwritten.
    InTheWay(Vec<PathBuf>),
    /// This file changed while it was merged; another try may go well.
    ChangedMeanwhile(String),
    /// The change holds copies of these files, which git was to ignore.
    HoldsCopies(Vec<PathBuf>),
    /// These files of the change have markers of conflicts that nobody resolved.
    HoldsMarkers(Vec<PathBuf>),
    /// Git could not do it, for this reason.
    Failed(String),
    /// It was not tried, because git could not do one before it.
    NotTried,
    /// The run has no result, for this reason.
    NoResult(String),
}

impl TaskWorkspace {
    pub(super) fn of(workspace: &kept::Workspace) -> Self {
        let left = workspace.left.as_ref();
        let worktree = workspace.worktree.as_ref();
        let files = left.map(|left| left.files.as_slice()).unwrap_or_default();
        Self {
            path: worktree.map(|worktree| worktree.path.clone()),
            branch: worktree.map(|worktree| worktree.branch.clone()),
            state: TaskWorkspaceState::of(workspace.state),
            commits: left.map_or(0, |left| left.commits),
            files: files.iter().map(ChangedFile::of).collect(),
            patch: left.and_then(|left| left.patch.clone()),
            notes: workspace.notes.clone(),
        }
    }
}

impl TaskWorkspaceState {
    fn of(state: kept::WorkspaceState) -> Self {
        match state {
            kept::WorkspaceState::Planned | kept::WorkspaceState::Ready => Self::InUse,
            kept::WorkspaceState::Captured => Self::Waiting,
            kept::WorkspaceState::Uncaptured => Self::NotKept,
            kept::WorkspaceState::Unchanged => Self::Unchanged,
            kept::WorkspaceState::Merged => Self::Merged,
            kept::WorkspaceState::Discarded => Self::Discarded,
        }
    }
}

impl ChangedFile {
    fn of(file: &kept::WorkspaceFile) -> Self {
        Self {
            path: PathBuf::from(&file.path),
            status: file.status.clone(),
            lines: file.added.zip(file.removed),
            mode: file.mode.clone(),
        }
    }

    fn of_merged(file: &workspaces::FileChange) -> Self {
        let path = file.path.clone();
        let described = kept::WorkspaceFile::of(file);
        Self {
            path,
            ..Self::of(&described)
        }
    }
}

impl MergeOutcome {
    pub(super) fn of(outcome: &merging::RunMergeOutcome) -> Self {
        let outcome = match outcome {
            merging::RunMergeOutcome::Tried(outcome) => outcome,
            merging::RunMergeOutcome::HoldsCopies(files) => {
                return Self::HoldsCopies(files.clone());
            }
            merging::RunMergeOutcome::ChangedSince { conflicts, .. } => {
                return Self::Conflicts(conflicts.clone());
            }
            merging::RunMergeOutcome::HoldsMarkers(files) => {
                return Self::HoldsMarkers(files.clone());
            }
            merging::RunMergeOutcome::Failed(why) => return Self::Failed(why.clone()),
            merging::RunMergeOutcome::NotTried => return Self::NotTried,
            merging::RunMergeOutcome::NoResult(why) => return Self::NoResult(why.clone()),
        };
        match outcome {
            workspaces::ChangeOutcome::Merged { files, .. } => {
                Self::Merged(files.iter().map(ChangedFile::of_merged).collect())
            }
            workspaces::ChangeOutcome::Nothing => Self::AlreadyThere,
            workspaces::ChangeOutcome::Conflicts(conflicts)
            | workspaces::ChangeOutcome::NeedsUncommitted(conflicts) => {
                Self::Conflicts(conflicts.clone())
            }
            workspaces::ChangeOutcome::InTheWay(files) => Self::InTheWay(files.clone()),
            workspaces::ChangeOutcome::ChangedMeanwhile(file) => {
                Self::ChangedMeanwhile(file.clone())
            }
        }
    }
}
