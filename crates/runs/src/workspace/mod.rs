//! The worktree of a run and its result, as `workspace.json` in its run directory keeps them. The
//! file is written before a worktree is made, so that the next process after a crash knows what to
//! look for. A run that a fleet did has no worktree here; its result came back as commits.

mod checkout_guard;
mod conflict_table;
mod earlier_worktree;
mod fetched_result;
mod folder;
mod old_worktrees;
mod settlement;
mod surrender;
mod tries;
mod unsettled_worktrees;
mod waiting_results;
mod words;

use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, sync, write_whole};
use pi_subagents_git::{ChangeKind, FileChange, FilterTrust, Repository, WorkspaceError};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::checkout_guard::note_checkout;
pub use self::conflict_table::{
    conflicts_with_checkout, first_place, matrix_of_call, matrix_table, place, place_in_both,
    small_table,
};
pub use self::earlier_worktree::EarlierWorktree;
pub use self::fetched_result::{FetchedFigures, keep_fetched, note_fetched};
pub use self::folder::{REVIEW_FOLDER, Stray, size_of, strays, worktrees_folder};
pub use self::old_worktrees::{Pruned, prune};
pub use self::settlement::{PATCH, note_state, settle, settle_first, take_away};
pub use self::surrender::give_up;
pub use self::unsettled_worktrees::{note_unsettled, unsettled};
pub use self::waiting_results::{newest_results, waiting_results, waiting_workspace};
pub use self::words::{brought_words, files_words, named};

const FILE: &str = "workspace.json";

/// A longer file is not ours.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The worktree of a run, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    pub state: WorkspaceState,
    /// The checkout that it is a worktree of, or that its result belongs to.
    pub repository: PathBuf,
    /// The directory of the task, below the top of the checkout.
    #[serde(default, skip_serializing_if = "is_top")]
    pub inside: PathBuf,
    /// Its directory and branch; none if the run worked on another machine.
    #[serde(flatten)]
    pub worktree: Option<Worktree>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<WorkspaceBase>,
    /// The result of an earlier run that a run of a fleet began from, as a commit. Its own result
    /// holds that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<String>,
    /// The result of the run, once it was captured.
    #[serde(flatten)]
    pub left: Option<WorkspaceResult>,
    /// The files that are missing in it or were not kept, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// True if somebody wants it never to be removed by itself.
    #[serde(default, rename = "kept", skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
    /// The file that says that nobody has looked after it yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<PathBuf>,
    /// The submodules that it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<Submodule>,
    /// Ignored files that were copied into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub included: Vec<PathBuf>,
    /// Copies of ignored files that the run has added to git all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_copies: Vec<PathBuf>,
    /// Files of the caller's checkout that changed while the run worked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkout_changed: Vec<PathBuf>,
    /// Files that are in its directory and not in its result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutFile>,
    /// True if the result was merged, and the directory stays because of what it lacks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged_in_part: bool,
    /// True if the project was trusted when the worktree was made, so that filters of the repository
    /// may run.
    #[serde(
        default,
        rename = "trusted",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_trusted: bool,
    /// The time at which it was last tried in vain to keep its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub tried_at: Option<Timestamp>,
    /// The parts that wait, if others were accepted before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsLeft>,
}

/// The parts of a result that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartsLeft {
    /// The number of parts that wait.
    pub left: usize,
    /// The number of parts that the result had at first.
    pub of: usize,
}

/// The directory and the branch of a worktree on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    pub path: PathBuf,
    pub branch: String,
    /// The directory that git keeps for it, once it was made. Git is never asked for it in the
    /// directory of the worktree, because a child could write there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_dir: Option<PathBuf>,
}

/// A file, or a repository inside the worktree, that a result lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutFile {
    pub path: String,
    /// The size of a file that is too large; none for a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A submodule of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Submodule {
    /// Its place below the top of the worktree.
    pub path: PathBuf,
    /// The commit that it began with.
    pub base: String,
    /// The directory that git keeps for it.
    pub git_dir: PathBuf,
}

fn is_top(inside: &Path) -> bool {
    inside.as_os_str().is_empty()
}

/// The state of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WorkspaceState {
    /// It is about to be made.
    Planned,
    /// A run works in it, or its owner died.
    Ready,
    /// The result of the run is kept, and the directory is there.
    Captured,
    /// The result of the run could not be kept, so the directory stays.
    Uncaptured,
    /// The run changed nothing, and the directory is gone.
    Unchanged,
    /// The result was merged, and the directory is gone.
    Merged,
    /// Nobody wanted the result, and the directory is gone.
    Discarded,
}

/// The state that a run began from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceBase {
    pub commit: String,
    /// The number of uncommitted files in the caller's checkout.
    pub uncommitted: usize,
    /// True if its result is compared with another state by now: the checkout was merged into its
    /// directory, or a part of it was accepted.
    #[serde(default, rename = "moved", skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
}

/// The state that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceResult {
    pub result: String,
    pub commits: u64,
    pub left_uncommitted: usize,
    pub files: Vec<WorkspaceFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<PathBuf>,
}

/// A file that a run changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFile {
    pub path: String,
    pub status: String,
    /// The old name of a renamed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Lines; left out for a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// The permissions before and after, if they have changed: `644 → 755`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl Workspace {
    /// Begins the record of a workspace for a task in a directory of a checkout. Nothing is known of
    /// it beside its state.
    pub fn of(repository: &Repository, cwd: &Path, state: WorkspaceState) -> Self {
        Self {
            state,
            repository: repository.top().to_owned(),
            inside: repository.relative(cwd).unwrap_or_default(),
            worktree: None,
            base: None,
            begin: None,
            left: None,
            notes: Vec::new(),
            is_kept: false,
            note: None,
            submodules: Vec::new(),
            included: Vec::new(),
            added_copies: Vec::new(),
            checkout_changed: Vec::new(),
            left_out: Vec::new(),
            merged_in_part: false,
            is_trusted: false,
            tried_at: None,
            parts: None,
        }
    }

    /// Finds the checkout that it is a worktree of, or that its result belongs to.
    pub fn checkout(&self) -> Result<Repository, WorkspaceError> {
        let found = Repository::find(&self.repository)?;
        if self.is_trusted {
            return found.with_filters(FilterTrust::Repository);
        }
        Ok(found)
    }

    /// Reads the worktree of a run; `None` if it has none, or the file cannot be read.
    pub fn read(directory: &Path) -> Option<Self> {
        let directory = Directory::open(directory).ok()?;
        let bytes = directory.read(Path::new(FILE), LARGEST).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes it whole, and makes sure that a crash of the machine does not cost it.
    pub fn write(&self, directory: &Path) -> std::io::Result<()> {
        let path = directory.join(FILE);
        write_whole(&path, &serde_json::to_vec_pretty(self)?)?;
        sync(&path)
    }

    /// Returns the directory of the worktree, if there is one on this machine.
    pub fn path(&self) -> Option<&Path> {
        self.worktree
            .as_ref()
            .map(|worktree| worktree.path.as_path())
    }

    /// Returns the directory of the caller's checkout for which it was made.
    pub fn task_directory(&self) -> PathBuf {
        let mut directory = self.repository.clone();
        directory.extend(self.inside.iter());
        directory
    }

    /// Returns whether it was made for a directory of a checkout.
    pub fn is_of(&self, directory: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let own = real(&self.task_directory());
        own.is_some() && own == real(directory)
    }

    /// Returns the paths of the files that the run changed, once that is known.
    pub fn changed_paths(&self) -> Option<Vec<String>> {
        match (&self.left, self.state) {
            (Some(left), _) => Some(left.files.iter().map(|file| file.path.clone()).collect()),
            (None, WorkspaceState::Unchanged) => Some(Vec::new()),
            (None, _) => None,
        }
    }

    /// Returns whether its result holds that of an earlier run: both worked in one worktree, or this
    /// one began from the result of the other.
    pub(crate) fn holds(&self, earlier: &Self) -> bool {
        let is_same_worktree = self.path().is_some() && self.path() == earlier.path();
        let result = earlier.left.as_ref().map(|left| &left.result);
        is_same_worktree || (result.is_some() && self.begin.as_ref() == result)
    }

    /// Returns whether the result of the run waits for somebody to merge or discard it.
    pub fn is_unmerged(&self) -> bool {
        match self.state {
            WorkspaceState::Captured | WorkspaceState::Uncaptured => true,
            WorkspaceState::Planned
            | WorkspaceState::Ready
            | WorkspaceState::Unchanged
            | WorkspaceState::Merged
            | WorkspaceState::Discarded => false,
        }
    }
}

impl WorkspaceBase {
    /// Names the state: `4f1c9ab`, which may be another commit than that of HEAD, or `your HEAD + 3
    /// uncommitted files`. `None` if it is not the one that the run began from.
    pub fn words(&self) -> Option<String> {
        if self.is_moved {
            return None;
        }
        Some(match self.uncommitted {
            0 => self.commit.get(..7).unwrap_or(&self.commit).to_owned(),
            number => format!("your HEAD + {}", count(number, "uncommitted file")),
        })
    }
}

impl PartsLeft {
    /// Says how much of a result waits.
    pub fn words(self) -> String {
        format!("remainder, {} of {}", self.left, count(self.of, "part"))
    }
}

impl WorkspaceFile {
    /// Describes a changed file.
    pub fn of(file: &FileChange) -> Self {
        Self {
            path: file.path.display().to_string(),
            status: file.status.word().to_owned(),
            from: match &file.status {
                ChangeKind::Renamed { from } => Some(from.display().to_string()),
                ChangeKind::Added
                | ChangeKind::Modified
                | ChangeKind::Deleted
                | ChangeKind::TypeChanged => None,
            },
            added: file.lines.map(|(added, _)| added),
            removed: file.lines.map(|(_, removed)| removed),
            mode: file
                .modes
                .map(|(before, after)| format!("{before:03o} → {after:03o}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_anywhere_describes_no_worktree() {
        let home = tempfile::tempdir().expect("a directory");
        let workspace = Workspace {
            state: WorkspaceState::Captured,
            repository: home.path().to_owned(),
            inside: PathBuf::from("inside"),
            worktree: Some(Worktree {
                path: home.path().join("tree"),
                branch: "b".to_owned(),
                git_dir: None,
            }),
            base: None,
            begin: None,
            left: Some(WorkspaceResult {
                result: "0123".to_owned(),
                commits: 1,
                left_uncommitted: 0,
                files: Vec::new(),
                patch: None,
            }),
            notes: vec!["a note".to_owned()],
            is_kept: false,
            note: None,
            submodules: Vec::new(),
            included: Vec::new(),
            added_copies: Vec::new(),
            checkout_changed: Vec::new(),
            left_out: Vec::new(),
            merged_in_part: false,
            is_trusted: false,
            tried_at: None,
            parts: None,
        };
        workspace.write(home.path()).expect("a file");
        assert_eq!(Workspace::read(home.path()), Some(workspace));
        let file = home.path().join(FILE);
        let whole = std::fs::read(&file).expect("a file");
        for length in 0..whole.len() {
            std::fs::write(&file, &whole[..length]).expect("a file");
            assert_eq!(Workspace::read(home.path()), None, "cut at {length}");
        }
    }
}
