//! Captures the result of a run: its commits, and one commit of everything that it has not
//! committed.

use std::collections::{BTreeSet, HashSet};

use pi_subagents_files::{is_absent, read_own_text};

use crate::error::WorkspaceError;
use crate::git::Git;
use crate::index_copy::IndexCopy;
use crate::object_id::ObjectId;
use crate::pins::{Pin, pin};
use crate::repository::{Repository, lines};
use crate::snapshot::{LargeUntracked, LeftOut, Rules, Snapshot, Unmerged};

/// The largest number of commits that are kept beside the result, each by a name of its own.
const MOST_LEFT: usize = 20;

/// The largest number of parents of a commit that gathers others.
const MOST_PARENTS: usize = 500;

/// A longer reflog is read as if it were not there.
const LARGEST_REFLOG: u64 = 64 * 1024 * 1024;

/// The bases of all runs.
const ALL_BASES: &str = "--glob=refs/pi-subagents/runs/*/base";

/// The kind of a workspace, by who else uses its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceKind {
    /// A worktree: its refs are those of the user's repository and stay there, and so does its
    /// directory as long as it has files that the result lacks.
    Worktree(LargeUntracked),
    /// A clone that is thrown away, with every branch and stash in it.
    Clone,
}

impl WorkspaceKind {
    fn largest_untracked(self) -> Option<u64> {
        match self {
            Self::Worktree(large) => large.limit(),
            Self::Clone => None,
        }
    }

    /// Returns whether its directory stays because of files that the result lacks.
    fn keeps(self, left_out: &[LeftOut]) -> bool {
        matches!(self, Self::Worktree(_)) && !left_out.is_empty()
    }
}

/// The state that a run has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Everything that is in the workspace and not ignored, as a commit on top of its HEAD.
    pub result: ObjectId,
    /// The number of commits that the run made on the way to the result.
    pub commits: u64,
    /// The number of files that differed from the last commit.
    pub left_uncommitted: usize,
    /// Commits of the run that the result does not contain.
    pub left: Vec<ObjectId>,
    /// The files that the result does not hold.
    pub left_out: Vec<LeftOut>,
    /// True if the run changed nothing that would have to be kept.
    pub is_unchanged: bool,
}

impl Captured {
    /// Looks at a workspace and makes a commit of its uncommitted files. `base` is the state from
    /// which the run began. Index, HEAD and files are not touched.
    pub fn take(
        workspace: &Repository,
        base: &ObjectId,
        kind: WorkspaceKind,
    ) -> Result<Self, WorkspaceError> {
        let snapshot = snapshot(workspace, kind)?;
        let mut known = vec![base.clone()];
        let (base_tree, parent) = workspace.tree_and_parent(base)?;
        known.extend(parent);
        let made = made_commits(workspace, snapshot.head.as_ref(), &known)?;
        known.push(snapshot.commit.clone());
        let left = left_commits(workspace, kind, &known)?;
        let left = gathered(workspace, left, &base_tree)?;
        let is_same = snapshot.tree == base_tree;
        Ok(Self {
            result: snapshot.commit,
            commits: made,
            left_uncommitted: snapshot.uncommitted.len(),
            is_unchanged: is_same && left.is_empty() && !kind.keeps(&snapshot.left_out),
            left,
            left_out: snapshot.left_out,
        })
    }

    /// Keeps the result and the other commits under the name of a run.
    pub fn pin(&self, repository: &Repository, run: &str) -> Result<(), WorkspaceError> {
        for (number, commit) in self.left.iter().enumerate() {
            pin(repository, run, Pin::Left(number + 1), commit)?;
        }
        pin(repository, run, Pin::Result, &self.result)
    }
}

/// Takes the snapshot of a workspace in whatever state it is.
fn snapshot(workspace: &Repository, kind: WorkspaceKind) -> Result<Snapshot, WorkspaceError> {
    let rules = Rules {
        unmerged: Unmerged::Recorded,
        largest_untracked: kind.largest_untracked(),
        message: "what was left uncommitted",
    };
    let copied = IndexCopy::of(workspace);
    let taken = copied.and_then(|index| Snapshot::with(workspace, index, rules));
    let taken = taken.or_else(|error| {
        // The index may be broken. Only the files count.
        let index = IndexCopy::empty()?;
        let Some(head) = workspace.head()? else {
            return Err(error);
        };
        index.git(workspace).run(&["read-tree", head.as_str()])?;
        Snapshot::with(workspace, index, rules)
    });
    taken.map(|(snapshot, _)| snapshot)
}

fn made_commits(
    workspace: &Repository,
    head: Option<&ObjectId>,
    known: &[ObjectId],
) -> Result<u64, WorkspaceError> {
    let Some(head) = head.filter(|head| !known.contains(head)) else {
        return Ok(0);
    };
    let mut arguments = vec!["rev-list", "--count", head.as_str(), "--not"];
    arguments.extend(known.iter().map(ObjectId::as_str));
    // A worktree that a second run goes on in stands on the base of the first.
    arguments.push(ALL_BASES);
    Ok(workspace
        .git()
        .line(&arguments)?
        .parse()
        .unwrap_or_default())
}

/// Returns the newest commits that the run had and that nothing else leads to.
fn left_commits(
    workspace: &Repository,
    kind: WorkspaceKind,
    known: &[ObjectId],
) -> Result<Vec<ObjectId>, WorkspaceError> {
    let mut had = reflog(workspace)?;
    let mut arguments = vec![
        "rev-list",
        "--topo-order",
        "--parents",
        "--ignore-missing",
        "--stdin",
    ];
    match kind {
        // Branches of our worktrees are deleted one day; all others stay.
        WorkspaceKind::Worktree(_) => arguments.extend([
            "--not",
            "--exclude=pi-subagents/*",
            "--exclude=pi-subagents-run/*",
            "--branches",
            "--tags",
            "--remotes",
            "--not",
        ]),
        WorkspaceKind::Clone => had.extend(all_refs(workspace.git())?),
    }
    had.retain(|id| !known.contains(id));
    if had.is_empty() {
        return Ok(Vec::new());
    }
    let had = existing(workspace.git(), &had)?;
    if had.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = lines(had.iter().map(ToString::to_string));
    input.push_str(&lines(known.iter().map(|id| format!("^{id}"))));
    let printed = workspace.git().run_with(&arguments, input.as_bytes())?;
    Ok(tips(&String::from_utf8_lossy(&printed)))
}

/// Returns the commits of a list, each with its parents, that are no parents themselves.
fn tips(printed: &str) -> Vec<ObjectId> {
    let parents: HashSet<&str> = printed
        .lines()
        .flat_map(|line| line.split(' ').skip(1))
        .collect();
    let commits = printed.lines().filter_map(|line| line.split(' ').next());
    let tips = commits.filter(|commit| !parents.contains(commit));
    tips.filter_map(ObjectId::parse).collect()
}

/// Keeps the newest of many commits as they are, and gathers the others as the parents of one more,
/// so that a handful of names leads to all of them.
fn gathered(
    workspace: &Repository,
    mut left: Vec<ObjectId>,
    tree: &ObjectId,
) -> Result<Vec<ObjectId>, WorkspaceError> {
    if left.len() <= MOST_LEFT {
        return Ok(left);
    }
    let mut last: Option<ObjectId> = None;
    for some in left.split_off(MOST_LEFT - 1).chunks(MOST_PARENTS) {
        let parents: Vec<&ObjectId> = last.iter().chain(some).collect();
        let message = "commits that the run left behind";
        last = Some(workspace.commit_tree(tree, &parents, message, Some("@0 +0000"))?);
    }
    left.extend(last);
    Ok(left)
}

/// Returns every commit that the workspace's HEAD has been at.
fn reflog(workspace: &Repository) -> Result<BTreeSet<ObjectId>, WorkspaceError> {
    let file = workspace.git_dir().join("logs/HEAD");
    let text = match read_own_text(&file, LARGEST_REFLOG) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => String::new(),
        Err(error) => return Err(WorkspaceError::of_file(&file)(error)),
    };
    let ids = text.lines().flat_map(|line| line.splitn(3, ' ').take(2));
    let is_real = |id: &ObjectId| id.as_str().bytes().any(|byte| byte != b'0');
    Ok(ids.filter_map(ObjectId::parse).filter(is_real).collect())
}

fn all_refs(git: &Git) -> Result<BTreeSet<ObjectId>, WorkspaceError> {
    let names = git.line(&["for-each-ref", "--format=%(objectname)"])?;
    Ok(names.lines().filter_map(ObjectId::parse).collect())
}

/// Returns the ids of existing commits; a tag leads to its commit.
fn existing(git: &Git, ids: &BTreeSet<ObjectId>) -> Result<Vec<ObjectId>, WorkspaceError> {
    let input = lines(ids.iter().map(|id| format!("{id}^{{commit}}")));
    let arguments = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
    let printed = git.run_with(&arguments, input.as_bytes())?;
    let printed = String::from_utf8_lossy(&printed);
    let commits = printed
        .lines()
        .filter_map(|line| line.strip_suffix(" commit"));
    Ok(commits.filter_map(ObjectId::parse).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tips_are_those_that_nobody_follows() {
        let id = |digit: &str| digit.repeat(40);
        let (a, b, c, d) = (id("a"), id("b"), id("c"), id("d"));
        let printed = format!("{a} {b}\n{b} {d}\n{c} {d}\n");
        let found: Vec<String> = tips(&printed).iter().map(ToString::to_string).collect();
        assert_eq!(found, [a, c]);
    }
}
