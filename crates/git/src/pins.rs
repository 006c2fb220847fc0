//! The refs that keep the commits of runs: `refs/pi-subagents/runs/<run>/{base,begin,result,merged,left/<n>}`.
//!
//! They survive the removal of a worktree, the deletion of a branch and `git gc`, are not listed by
//! `git branch` and not pushed by a plain push.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::{Repository, lines};

const RUNS: &str = "refs/pi-subagents/runs";

/// The directory of refs for results that nobody wants.
const DISCARDED: &str = "refs/pi-subagents/discarded";

/// The commits that are kept of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// The state that the run is compared with: what it began from, or what the first run of its
    /// session began from.
    pub base: Option<ObjectId>,
    /// The result of an earlier run that this run began from, if it did.
    pub begin: Option<ObjectId>,
    /// The state that the run left.
    pub result: Option<ObjectId>,
    /// The result that was merged last, if any.
    pub merged: Option<ObjectId>,
    /// Commits that the run made and that `result` does not contain.
    pub left: Vec<ObjectId>,
}

/// A name under which a commit of a run is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// The state that the run is compared with.
    Base,
    /// The result of an earlier run that this run began from.
    Begin,
    /// The state that the run left.
    Result,
    /// A result that was merged.
    Merged,
    /// A commit that the result does not contain, by its number.
    Left(usize),
}

impl Pins {
    /// Returns whether there is a result that nobody has merged.
    pub fn is_unmerged(&self) -> bool {
        self.result.is_some() && self.result != self.merged
    }

    /// Reads the pins of a run.
    pub fn read(repository: &Repository, run: &str) -> Result<Self, WorkspaceError> {
        let folder = format!("{}/", folder(run)?);
        let mut all = Self::read_below(repository, &folder)?;
        Ok(all.remove(run).unwrap_or_default())
    }

    /// Reads what is kept of all runs, by one process.
    pub fn read_all(repository: &Repository) -> Result<BTreeMap<String, Self>, WorkspaceError> {
        Self::read_below(repository, RUNS)
    }

    fn read_below(
        repository: &Repository,
        folder: &str,
    ) -> Result<BTreeMap<String, Self>, WorkspaceError> {
        let format = "--format=%(objectname) %(refname)";
        let printed = repository.git().line(&["for-each-ref", format, folder])?;
        let mut all: BTreeMap<String, Self> = BTreeMap::new();
        for line in printed.lines() {
            let parts = line.split_once(' ').and_then(|(id, name)| {
                let inside = name.strip_prefix(RUNS)?.strip_prefix('/')?;
                Some((ObjectId::parse(id)?, inside.split_once('/')?))
            });
            let Some((id, (run, name))) = parts else {
                continue;
            };
            let pins = all.entry(run.to_owned()).or_default();
            match name {
                "base" => pins.base = Some(id),
                "begin" => pins.begin = Some(id),
                "result" => pins.result = Some(id),
                "merged" => pins.merged = Some(id),
                _ => pins.left.push(id),
            }
        }
        Ok(all)
    }
}

/// Keeps a commit of a run.
pub fn pin(
    repository: &Repository,
    run: &str,
    pin: Pin,
    commit: &ObjectId,
) -> Result<(), WorkspaceError> {
    let name = ref_of(run, pin)?;
    note_ref(repository, &name, commit)
}

/// Writes a ref, with a reflog that tells when that was.
fn note_ref(repository: &Repository, name: &str, commit: &ObjectId) -> Result<(), WorkspaceError> {
    let arguments = ["update-ref", "--create-reflog", "-m", "pi-subagents"];
    let arguments = [&arguments[..], &[name, commit.as_str()]].concat();
    repository.git().run(&arguments)?;
    Ok(())
}

/// Sets the commits of a run aside: they are no result any more, and can be found for some time.
pub fn discard(repository: &Repository, run: &str) -> Result<Option<String>, WorkspaceError> {
    let pins = Pins::read(repository, run)?;
    let place = format!("{DISCARDED}/{}", checked(run)?);
    let result = format!("{place}/result");
    for (number, commit) in pins.left.iter().enumerate() {
        let name = format!("{place}/left/{}", number + 1);
        note_ref(repository, &name, commit)?;
    }
    if let Some(commit) = &pins.result {
        note_ref(repository, &result, commit)?;
    }
    unpin(repository, run)?;
    Ok(pins.result.map(|_| result))
}

/// Returns whether something that is kept leads to a commit.
pub fn is_pinned(repository: &Repository, commit: &ObjectId) -> Result<bool, WorkspaceError> {
    let contains = format!("--contains={commit}");
    let arguments = ["for-each-ref", "--count=1", &contains, RUNS, DISCARDED];
    Ok(!repository.git().run(&arguments)?.is_empty())
}

/// Lets go of all that is kept of a run.
pub fn unpin(repository: &Repository, run: &str) -> Result<(), WorkspaceError> {
    delete_below(repository, &format!("{}/", folder(run)?))
}

/// Forgets that the result of a run was merged, so that it waits again.
pub fn unpin_merged(repository: &Repository, run: &str) -> Result<(), WorkspaceError> {
    let name = ref_of(run, Pin::Merged)?;
    repository
        .git()
        .try_run(&["update-ref", "-d", &name], b"")?;
    Ok(())
}

fn delete_below(repository: &Repository, folder: &str) -> Result<(), WorkspaceError> {
    let git = repository.git();
    let names = git.line(&["for-each-ref", "--format=%(refname)", folder])?;
    let commands = lines(names.lines().map(|name| format!("delete {name}")));
    git.run_with(&["update-ref", "--stdin"], commands.as_bytes())?;
    Ok(())
}

/// Lets go of what was merged or discarded longer ago than this. A result that nobody has merged or
/// discarded is never dropped. Returns the runs of which nothing is kept any more.
pub fn unpin_expired(
    repository: &Repository,
    age: Duration,
) -> Result<Vec<String>, WorkspaceError> {
    let discarded = discarded_runs(repository)?.into_iter();
    let discarded = discarded.map(|run| (DISCARDED, run, "result"));
    let merged = Pins::read_all(repository)?.into_iter();
    let merged = merged.filter(|(_, pins)| pins.result.is_some() && !pins.is_unmerged());
    let merged = merged.map(|(run, _)| (RUNS, run, "merged"));
    let mut expired = Vec::new();
    for (place, run, noted) in discarded.chain(merged) {
        let folder = format!("{place}/{run}/");
        if is_older(repository, &format!("{folder}{noted}"), age) {
            delete_below(repository, &folder)?;
            expired.push(run);
        }
    }
    Ok(expired)
}

/// Lists the runs whose results were discarded and are still kept.
fn discarded_runs(repository: &Repository) -> Result<BTreeSet<String>, WorkspaceError> {
    let arguments = ["for-each-ref", "--format=%(refname)", DISCARDED];
    let printed = repository.git().line(&arguments)?;
    let runs = printed.lines().filter_map(|name| {
        let inside = name.strip_prefix(DISCARDED)?.strip_prefix('/')?;
        Some(inside.split('/').next()?.to_owned())
    });
    Ok(runs.collect())
}

/// Returns whether a ref was written longer ago than this. Git forgets the oldest lines of a reflog
/// after months, so a ref without one is old.
fn is_older(repository: &Repository, name: &str, age: Duration) -> bool {
    let log = repository.common_dir().join("logs").join(name);
    let written = fs::metadata(log).and_then(|log| log.modified());
    let Ok(written) = written else {
        return true;
    };
    // A time in the future is not old.
    written.elapsed().is_ok_and(|elapsed| elapsed >= age)
}

/// Returns the name of the ref that keeps a commit of a run.
pub(crate) fn ref_of(run: &str, pin: Pin) -> Result<String, WorkspaceError> {
    let folder = folder(run)?;
    Ok(match pin {
        Pin::Base => format!("{folder}/base"),
        Pin::Begin => format!("{folder}/begin"),
        Pin::Result => format!("{folder}/result"),
        Pin::Merged => format!("{folder}/merged"),
        Pin::Left(number) => format!("{folder}/left/{number}"),
    })
}

fn folder(run: &str) -> Result<String, WorkspaceError> {
    Ok(format!("{RUNS}/{}", checked(run)?))
}

/// Refuses a name that could be more than one part of the name of a ref.
pub(crate) fn checked(name: &str) -> Result<&str, WorkspaceError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_plain) {
        return Ok(name);
    }
    Err(WorkspaceError::BadName {
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_one_part_of_a_name() {
        let name = ref_of("20261116-a_b", Pin::Left(3)).unwrap();
        assert_eq!(name, "refs/pi-subagents/runs/20261116-a_b/left/3");
        for run in ["", "..", "a/b", "-d", "a b", "a\n", "*"] {
            assert!(ref_of(run, Pin::Base).is_err(), "{run}");
        }
    }
}
