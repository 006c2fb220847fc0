//! The changes that runs left in submodules. A submodule is a repository of its own, so they are
//! shown and merged there.

use std::path::{Path, PathBuf};

use pi_subagents_git::{Pins, Repository, RepositoryPart, parts};
use pi_subagents_vocabulary::text::shell_quoted;

/// Returns the submodules of a checkout in which a run left changes that nobody has merged.
pub fn changed_submodules(checkout: &Repository, run: &str) -> Vec<PathBuf> {
    Submodules::of(checkout).changed_by(run)
}

/// The submodules of a checkout, listed once for many runs.
pub(crate) struct Submodules(Vec<RepositoryPart>);

impl Submodules {
    pub(crate) fn of(checkout: &Repository) -> Self {
        // A checkout whose submodules cannot be listed has other problems than this hint.
        let parts = parts(checkout).unwrap_or_default().into_iter();
        let submodules = parts.filter(|part| !part.path.as_os_str().is_empty());
        Self(submodules.collect())
    }

    /// Returns those in which a run left changes that nobody has merged.
    pub(crate) fn changed_by(&self, run: &str) -> Vec<PathBuf> {
        let changed = self.0.iter().filter(|part| {
            let pins = Pins::read(&part.repository, run);
            pins.is_ok_and(|pins| pins.base.is_some() && pins.is_unmerged())
        });
        changed.map(|part| part.path.clone()).collect()
    }
}

/// Says how the changes in a submodule are merged.
pub fn submodule_note(path: &Path, run: &str) -> String {
    let path = path.display().to_string();
    let typed = shell_quoted(&path);
    format!("the submodule {path} has its own changes; merge run {run} there too, in {typed}")
}
