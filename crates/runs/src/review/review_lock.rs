//! The lock of one checkout while results are accepted into it or taken back. Others who merge are
//! not kept waiting: what they write is noticed before anything lands.

use std::time::Duration;

use pi_subagents_files::{HeldLock, LockError, lock_file};
use pi_subagents_git::Repository;

use pi_subagents_ground::error::CommandError;

/// Takes the lock, or refuses with the name of its holder.
pub(super) fn lock_review(checkout: &Repository) -> Result<HeldLock, CommandError> {
    let path = checkout.git_dir().join("pi-subagents-review.lock");
    lock_file(&path, Duration::ZERO).map_err(|error| match &error {
        LockError::Held { holder, .. } => {
            let holder = holder.as_deref().unwrap_or("another process");
            let words = format!("results are being accepted into this checkout by {holder}");
            CommandError::failed(words).hint("Wait until it has ended, and try again.")
        }
        LockError::Io { .. } => {
            CommandError::failed("this checkout cannot be locked").because(&error)
        }
    })
}
