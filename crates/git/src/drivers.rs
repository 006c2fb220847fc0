//! Merge drivers of the user. None is ever run here, so a file that one of them would decide is never
//! called clean.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::matrix::Change;
use crate::merge_tree::Conflict;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};
use crate::touched_paths::Touched;

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

    /// Adds the files that both sides have changed and a driver would decide to the conflicts that
    /// were found without it.
    pub(crate) fn add_driven(
        &self,
        repository: &Repository,
        conflicts: &mut Vec<Conflict>,
        ours: &Touched,
        theirs: &Touched,
    ) -> Result<(), WorkspaceError> {
        if self.names.is_empty() {
            return Ok(());
        }
        for path in self.decided(repository, ours.shared(theirs))? {
            conflicts.retain(|conflict| conflict.path != path);
            conflicts.push(Conflict::without_lines(path, DRIVER));
        }
        Ok(())
    }

    /// Adds the files of a change that a driver would decide if the change were brought to a state.
    pub(crate) fn add_of_change(
        &self,
        repository: &Repository,
        conflicts: &mut Vec<Conflict>,
        change: &Change,
        state: &ObjectId,
    ) -> Result<(), WorkspaceError> {
        if self.names.is_empty() {
            return Ok(());
        }
        let Change { base, result } = change;
        let touched = Touched::between(repository, &[(base, state), (base, result)])?;
        let [ours, theirs] = touched.as_slice() else {
            return Ok(());
        };
        self.add_driven(repository, conflicts, ours, theirs)
    }

    /// Returns those of some files that a driver would decide.
    fn decided<'a>(
        &self,
        repository: &Repository,
        files: impl Iterator<Item = &'a Path>,
    ) -> Result<Vec<PathBuf>, WorkspaceError> {
        let mut names = Vec::new();
        for file in files {
            names.extend_from_slice(file.as_os_str().as_bytes());
            names.push(0);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
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
