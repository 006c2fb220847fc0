//! The changes that runs left in submodules. A submodule is a repository of its own, so they are
//! shown and merged there.

use std::path::{Path, PathBuf};

use pi_subagents_workspaces::{Pins, Repository, parts};

/// Returns the submodules of a checkout in which a run left changes that nobody has merged.
pub(crate) fn changed_submodules(checkout: &Repository, run: &str) -> Vec<PathBuf> {
    // A checkout whose submodules cannot be listed has other problems than this hint.
    let parts = parts(checkout).unwrap_or_default().into_iter();
    let submodules = parts.filter(|part| !part.path.as_os_str().is_empty());
    let changed = submodules.filter(|part| {
        let pins = Pins::read(&part.repository, run);
        pins.is_ok_and(|pins| pins.base.is_some() && pins.is_unmerged())
    });
    changed.map(|part| part.path).collect()
}

/// Says how the changes in a submodule are merged.
pub(crate) fn submodule_note(path: &Path, run: &str) -> String {
    let path = path.display();
    format!(
        "the submodule {path} has changes of its own, which are merged there: cd {path} && pi-subagents merge {run}"
    )
}
