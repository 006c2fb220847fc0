//! A commit of all files of a checkout that are not ignored, made without touching its index, its
//! HEAD or its files.
//!
//! `git stash create` leaves out untracked files and fails with unmerged ones; `git add -A` fails
//! if a nested repository has no commit; `git add -u` starts `git status` in each submodule, with
//! the settings of whatever repository is there. So the index is copied, and files are added to the
//! copy by name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::git::{Git, failed, strange};
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// Untracked files above this size are left out of a snapshot.
pub const LARGEST_UNTRACKED: u64 = 10_000_000;

/// The largest number of unmerged files that are named.
const MOST_NAMED: usize = 10;

/// The state of a checkout as a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit. In a checkout without changes this is its HEAD.
    pub commit: ObjectId,
    /// The tree of the commit.
    pub tree: ObjectId,
    /// The commit that is checked out, if any.
    pub head: Option<ObjectId>,
    /// The files in which the checkout differs from its HEAD.
    pub uncommitted: Vec<PathBuf>,
    /// The files of the checkout that are neither ignored nor in the snapshot.
    pub left_out: Vec<LeftOut>,
}

/// Something that a snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The path, below the top of the checkout.
    pub path: PathBuf,
    /// The reason.
    pub why: WhyLeftOut,
}

/// The reason why a snapshot does not hold a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// It is untracked and has more than [`LARGEST_UNTRACKED`] bytes.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It is a repository of its own.
    NestedRepository,
}

/// The treatment of untracked files above [`LARGEST_UNTRACKED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargeUntracked {
    /// They are named and left out.
    LeftOut,
    /// They are taken like others.
    Taken,
}

impl LargeUntracked {
    pub(crate) fn limit(self) -> Option<u64> {
        match self {
            Self::LeftOut => Some(LARGEST_UNTRACKED),
            Self::Taken => None,
        }
    }
}

/// The treatment of a file whose merge is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmerged {
    /// There is no snapshot.
    Refused,
    /// The snapshot holds it with its conflict markers.
    Recorded,
}

/// The rules for one snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) unmerged: Unmerged,
    pub(crate) largest_untracked: Option<u64>,
    pub(crate) message: &'a str,
}

impl Snapshot {
    /// Takes a snapshot of a checkout. The same state gives the same commit.
    pub fn take(repository: &Repository) -> Result<Self, WorkspaceError> {
        let rules = Rules {
            unmerged: Unmerged::Refused,
            largest_untracked: Some(LARGEST_UNTRACKED),
            message: "the checkout with its uncommitted changes",
        };
        Self::with(repository, IndexCopy::of(repository)?, rules).map(|(snapshot, _)| snapshot)
    }

    /// Returns whether the checkout has no changes that a snapshot would hold.
    pub fn is_clean(&self) -> bool {
        self.uncommitted.is_empty()
    }

    /// Takes a snapshot with an index, and returns the index as it is then: up to date with the
    /// files.
    pub(crate) fn with(
        repository: &Repository,
        index: IndexCopy,
        rules: Rules<'_>,
    ) -> Result<(Self, IndexCopy), WorkspaceError> {
        let git = index.git(repository);
        let (untracked, left_out) = untracked(&git, repository.top(), rules)?;
        let (gone, changed) = tracked(&git)?;
        if !gone.is_empty() {
            // They go first: a directory may have taken the place of a file.
            git.run_with(&["update-index", "--force-remove", "-z", "--stdin"], &gone)?;
        }
        let taken = [changed, untracked].concat();
        if !taken.is_empty() {
            // A file that is removed in this moment does not count.
            let arguments = ["update-index", "--add", "--remove", "-z", "--stdin"];
            git.run_with(&arguments, &taken)?;
        }
        let tree = git.id(&["write-tree"])?;
        let head = Head::of(repository)?;
        let uncommitted = differing(&git, head.as_ref(), &tree)?;
        let commit = match &head {
            Some(head) if uncommitted.is_empty() => head.commit.clone(),
            head => {
                // The same state is the same commit, so it has the date of its HEAD.
                let seconds = head.as_ref().map_or("0", |head| &head.seconds);
                let parents: Vec<&ObjectId> = head.iter().map(|head| &head.commit).collect();
                let date = format!("@{seconds} +0000");
                repository.commit_tree(&tree, &parents, rules.message, Some(&date))?
            }
        };
        let head = head.map(|head| head.commit);
        let snapshot = Self {
            commit,
            tree,
            head,
            uncommitted,
            left_out,
        };
        Ok((snapshot, index))
    }
}

/// Lists the tracked files that are gone, and those that may differ from the index, each followed by
/// a zero byte. No submodule is entered.
fn tracked(git: &Git) -> Result<(Vec<u8>, Vec<u8>), WorkspaceError> {
    let arguments = ["diff-files", "-z", "--name-status", INSIDE_NO_SUBMODULE];
    let printed = git.run(&arguments)?;
    let (mut gone, mut changed) = (Vec::new(), Vec::new());
    let mut parts = entries(&printed);
    while let (Some(how), Some(path)) = (parts.next(), parts.next()) {
        let list = if how == b"D" { &mut gone } else { &mut changed };
        list.extend_from_slice(path);
        list.push(0);
    }
    Ok((gone, changed))
}

/// The option with which git compares the commit of a submodule and does not look into it: that
/// would start git with the settings of the submodule.
pub(crate) const INSIDE_NO_SUBMODULE: &str = "--ignore-submodules=dirty";

/// Returns whether a checkout has changes that are not committed.
pub(crate) fn is_dirty(repository: &Repository) -> Result<bool, WorkspaceError> {
    let options = ["--porcelain", "-z", "--untracked-files=normal"];
    let arguments = [&["status", INSIDE_NO_SUBMODULE][..], &options].concat();
    Ok(!repository.git().run(&arguments)?.is_empty())
}

/// The commit that is checked out.
struct Head {
    commit: ObjectId,
    tree: ObjectId,
    /// Its date, in seconds since 1970.
    seconds: String,
}

impl Head {
    /// Reads it; `None` in a repository without commits.
    fn of(repository: &Repository) -> Result<Option<Self>, WorkspaceError> {
        let arguments = [
            "rev-list",
            "--max-count=1",
            "--no-commit-header",
            "--format=%H %T %ct",
            "HEAD",
            "--",
        ];
        let ended = repository.git().try_run(&arguments, b"")?;
        if !ended.status.success() {
            return match repository.head()? {
                Some(_) => Err(failed(&arguments, &ended).into()),
                None => Ok(None),
            };
        }
        let line = String::from_utf8_lossy(&ended.stdout);
        let mut words = line.trim_end().split(' ');
        let mut id = || words.next().and_then(ObjectId::parse);
        match (id(), id(), words.next()) {
            (Some(commit), Some(tree), Some(seconds)) => Ok(Some(Self {
                commit,
                tree,
                seconds: seconds.to_owned(),
            })),
            _ => Err(strange(&arguments, &ended.stdout).into()),
        }
    }
}

/// Lists the untracked files that are not ignored, each followed by a zero byte, and the files that
/// are left out. Refuses a checkout with files that are not merged yet, unless the rules say
/// otherwise: conflict markers would be taken for what somebody wrote.
fn untracked(
    git: &Git,
    top: &Path,
    rules: Rules<'_>,
) -> Result<(Vec<u8>, Vec<LeftOut>), WorkspaceError> {
    let options = ["--others", "--unmerged", "--exclude-standard", "-t", "-z"];
    let printed = git.run(&[&["ls-files"][..], &options].concat())?;
    let (mut taken, mut left_out, mut unmerged) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries(&printed) {
        let Some(entry) = entry.strip_prefix(b"? ") else {
            unmerged.extend(unmerged_path(entry));
            continue;
        };
        if let Some(why) = why_left_out(top, entry, rules.largest_untracked) {
            let path = path(entry).to_owned();
            left_out.push(LeftOut { path, why });
        } else {
            taken.extend_from_slice(entry);
            taken.push(0);
        }
    }
    match rules.unmerged {
        Unmerged::Refused if !unmerged.is_empty() => Err(refused(top, unmerged)),
        Unmerged::Refused | Unmerged::Recorded => Ok((taken, left_out)),
    }
}

/// Reads the path of `M mode id stage\tpath`.
fn unmerged_path(entry: &[u8]) -> Option<PathBuf> {
    let at = entry.iter().position(|byte| *byte == b'\t')?;
    Some(path(&entry[at + 1..]).to_owned())
}

fn refused(top: &Path, mut files: Vec<PathBuf>) -> WorkspaceError {
    // A file has up to three entries, one after the other.
    files.dedup();
    files.truncate(MOST_NAMED);
    WorkspaceError::Unmerged {
        directory: top.to_owned(),
        files,
    }
}

fn why_left_out(top: &Path, entry: &[u8], largest: Option<u64>) -> Option<WhyLeftOut> {
    // Git lists a directory only if it is a repository of its own.
    if entry.ends_with(b"/") {
        return Some(WhyLeftOut::NestedRepository);
    }
    let bytes = fs::symlink_metadata(top.join(path(entry))).ok()?.len();
    let is_too_large = largest.is_some_and(|largest| bytes > largest);
    is_too_large.then_some(WhyLeftOut::TooLarge { bytes })
}

/// Lists the files in which a tree differs from the commit that is checked out.
fn differing(
    git: &Git,
    head: Option<&Head>,
    tree: &ObjectId,
) -> Result<Vec<PathBuf>, WorkspaceError> {
    let whole = ["ls-tree", "-r", "-z", "--name-only", "--full-tree"];
    let between = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
    let printed = match head {
        Some(head) if head.tree == *tree => return Ok(Vec::new()),
        Some(head) => git.run(&[&between[..], &[head.tree.as_str(), tree.as_str()]].concat())?,
        None => git.run(&[&whole[..], &[tree.as_str()]].concat())?,
    };
    let files = entries(&printed).map(|entry| path(entry).to_owned());
    Ok(files.collect())
}
