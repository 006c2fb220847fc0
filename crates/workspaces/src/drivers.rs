//! Merge drivers of the user. None is ever run here, so a file that one of them would decide is never
//! called clean.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::WorkspaceError;
use crate::merge_tree::Conflict;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// The kind of a conflict that only a merge driver could decide.
pub(crate) const DRIVER: &str = "driver";

/// The files that a merge driver decides.
#[derive(Debug, Default)]
pub(crate) struct Drivers {
    names: BTreeSet<String>,
}

impl Drivers {
    /// Reads which drivers the user has. Most have none, and then nothing else is looked up.
    pub(crate) fn of(repository: &Repository) -> Result<Self, WorkspaceError> {
        let pattern = r"^merge\..*\.driver$";
        let arguments = ["config", "-z", "--name-only", "--get-regexp", pattern];
        let printed = repository.git().try_run(&arguments, b"")?.stdout;
        let names = entries(&printed).filter_map(|key| {
            let key = std::str::from_utf8(key).ok()?;
            let name = key.strip_prefix("merge.")?.strip_suffix(".driver")?;
            Some(name.to_owned())
        });
        let names = names.collect();
        Ok(Self { names })
    }

    /// Returns the files between two states that a driver would decide.
    pub(crate) fn changed(
        &self,
        repository: &Repository,
        base: &ObjectId,
        state: &ObjectId,
    ) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        if self.names.is_empty() {
            return Ok(BTreeSet::new());
        }
        let between = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        let ends = [base.as_str(), state.as_str()];
        let names = repository.git().run(&[&between[..], &ends].concat())?;
        let arguments = ["check-attr", "-z", "--stdin", "merge"];
        let printed = repository.git().run_with(&arguments, &names)?;
        let fields: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        let found = fields.chunks_exact(3).filter_map(|fields| {
            let driver = std::str::from_utf8(fields[2]).ok()?;
            let is_own = self.names.contains(driver);
            is_own.then(|| path(fields[0]).to_owned())
        });
        Ok(found.collect())
    }
}

/// Adds the files that both sides have changed and a driver would decide to the conflicts that were
/// found without it.
pub(crate) fn add_driven(
    conflicts: &mut Vec<Conflict>,
    ours: &BTreeSet<PathBuf>,
    theirs: &BTreeSet<PathBuf>,
) {
    for path in ours.intersection(theirs) {
        conflicts.retain(|conflict| conflict.path != *path);
        conflicts.push(Conflict {
            path: path.clone(),
            kind: DRIVER.to_owned(),
            lines: Vec::new(),
        });
    }
}
