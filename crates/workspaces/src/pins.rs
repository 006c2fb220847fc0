//! The refs that keep the commits of runs: `refs/pi-subagents/runs/<run>/{base,result,left/<n>}`.
//!
//! They survive the removal of a worktree, the deletion of a branch and `git gc`, are not listed by
//! `git branch` and not pushed by a plain push.

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::{Repository, lines};

const RUNS: &str = "refs/pi-subagents/runs";

/// The directory of refs for results that nobody wants.
const DISCARDED: &str = "refs/pi-subagents/discarded";

/// The commits that are kept of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    /// The state that the run began from.
    pub base: Option<ObjectId>,
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
    /// The state that the run began from.
    Base,
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
        let format = "--format=%(objectname) %(refname)";
        let printed = repository.git().line(&["for-each-ref", format, &folder])?;
        let mut pins = Self::default();
        for line in printed.lines() {
            let Some((id, name)) = line.split_once(' ') else {
                continue;
            };
            let (id, name) = (ObjectId::parse(id), name.strip_prefix(&folder));
            match (id, name) {
                (Some(id), Some("base")) => pins.base = Some(id),
                (Some(id), Some("result")) => pins.result = Some(id),
                (Some(id), Some("merged")) => pins.merged = Some(id),
                (Some(id), Some(_)) => pins.left.push(id),
                (Some(_) | None, _) => {}
            }
        }
        Ok(pins)
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
    repository
        .git()
        .run(&["update-ref", &name, commit.as_str()])?;
    Ok(())
}

/// Sets the commits of a run aside: they are no result any more, and can be found for some time.
pub fn discard(repository: &Repository, run: &str) -> Result<Option<String>, WorkspaceError> {
    let pins = Pins::read(repository, run)?;
    let place = format!("{DISCARDED}/{}", checked(run)?);
    let result = format!("{place}/result");
    let git = repository.git();
    for (number, commit) in pins.left.iter().enumerate() {
        let name = format!("{place}/left/{}", number + 1);
        git.run(&["update-ref", &name, commit.as_str()])?;
    }
    if let Some(commit) = &pins.result {
        git.run(&["update-ref", &result, commit.as_str()])?;
    }
    unpin(repository, run)?;
    Ok(pins.result.map(|_| result))
}

/// Lets go of all that is kept of a run.
pub fn unpin(repository: &Repository, run: &str) -> Result<(), WorkspaceError> {
    let folder = format!("{}/", folder(run)?);
    let git = repository.git();
    let names = git.line(&["for-each-ref", "--format=%(refname)", &folder])?;
    let commands = lines(names.lines().map(|name| format!("delete {name}")));
    git.run_with(&["update-ref", "--stdin"], commands.as_bytes())?;
    Ok(())
}

/// Returns the name of the ref that keeps a commit of a run.
pub(crate) fn ref_of(run: &str, pin: Pin) -> Result<String, WorkspaceError> {
    let folder = folder(run)?;
    Ok(match pin {
        Pin::Base => format!("{folder}/base"),
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
