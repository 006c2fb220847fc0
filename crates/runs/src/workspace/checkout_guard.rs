//! Notices a change of the caller's checkout while a run worked beside it. Shell commands are not
//! parsed, so this shows a run that writes there all the same.

use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, write_whole};
use pi_subagents_git::{CheckoutState, Repository, WorkspaceError};

/// The look of the checkout when the run began.
const FILE: &str = "checkout.before";

/// A longer file is not ours.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Notes how the caller's checkout looks, before a run works.
pub fn note_checkout(checkout: &Repository, directory: &Path) -> Result<(), WorkspaceError> {
    if let Some(state) = CheckoutState::of(checkout)? {
        let path = directory.join(FILE);
        let written = write_whole(&path, &state.to_bytes());
        written.map_err(|source| WorkspaceError::File { path, source })?;
    }
    Ok(())
}

/// Names the files of the checkout that look different since; none if nobody noted how it was.
pub(super) fn changed_meanwhile(checkout: &Repository, directory: &Path) -> Vec<PathBuf> {
    let before = || {
        let directory = Directory::open(directory).ok()?;
        let bytes = directory.read(Path::new(FILE), LARGEST).ok()?;
        CheckoutState::from_bytes(&bytes)
    };
    let now = CheckoutState::of(checkout).ok().flatten();
    match (before(), now) {
        (Some(before), Some(now)) => now.changed_since(&before),
        (Some(_) | None, _) => Vec::new(),
    }
}
