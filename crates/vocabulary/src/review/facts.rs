//! The facts about a result that the order of a review is made of.

use crate::{Receipt, RunId, SandboxLevel};

/// A result that waits for a person, with everything that the rules look at.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultFacts {
    /// The run that left it.
    pub run: RunId,
    /// The name of its task.
    pub name: String,
    /// The prompt of its task.
    pub task: String,
    /// The files in which it differs from its base.
    pub files: Vec<TouchedPath>,
    /// What was seen of the run.
    pub receipt: Receipt,
    /// True if the run completed.
    pub is_completed: bool,
    /// The gate that failed and how it ended, if the run ended with that: `cargo test → exit 101`.
    pub failed_gate: Option<String>,
    /// Claims of its answer that were not seen, in the words of
    /// [`unseen_claims`](super::unseen_claims).
    pub unseen: Vec<String>,
    /// The places at which it conflicts with the checkout: `README.md:1-4`.
    pub checkout_conflicts: Vec<String>,
    /// The files of the checkout that it would overwrite and git does not keep.
    pub in_the_way: Vec<String>,
    /// Its files with markers of a conflict.
    pub marked: Vec<String>,
    /// Its copies of ignored files.
    pub copies: Vec<String>,
    /// The other results with which it conflicts.
    pub clashes: Vec<RunClash>,
    /// The results that it was built on.
    pub needs: Vec<RunId>,
    /// True if the checkout changed while the run worked.
    pub checkout_changed: bool,
    /// The sandbox of its shell commands; `None` if no level is known, which means that there was
    /// none.
    pub sandbox: Option<SandboxLevel>,
    /// The number of times that it was sent back.
    pub sent_back: usize,
}

/// A file in which a result differs from its base.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TouchedPath {
    /// Its path below the top of the checkout.
    pub path: String,
    /// Its old path, if it was renamed.
    pub from: Option<String>,
    /// True if the file is gone.
    pub is_deleted: bool,
    /// True if it is a submodule.
    pub is_submodule: bool,
    /// The number of lines that were added.
    pub added: u64,
    /// The number of lines that were taken out.
    pub removed: u64,
}

/// A conflict of two results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunClash {
    /// The other result.
    pub with: RunId,
    /// The name of its task.
    pub name: String,
    /// The places, in the files of this result.
    pub places: Vec<String>,
}

impl ResultFacts {
    /// Returns the number of all lines that were added or taken out.
    pub(super) fn lines(&self) -> u64 {
        self.files.iter().map(TouchedPath::lines).sum()
    }

    /// Returns whether it changes a file that another result changes too.
    pub(super) fn shares_a_file(&self, other: &Self) -> bool {
        let mut paths = self.files.iter().map(|file| &file.path);
        paths.any(|path| other.files.iter().any(|file| file.path == *path))
    }
}

impl TouchedPath {
    pub(super) fn lines(&self) -> u64 {
        self.added + self.removed
    }
}
