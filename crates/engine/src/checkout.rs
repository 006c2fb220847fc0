//! A checkout that runs share: the runs at work in it, and the one gate that may run in it.
//!
//! Both are locks of files, so they are free when their owner is gone, however it went.

use std::time::Duration;

use pi_subagents_files::{HeldLock, LockError, create_directories, lock_file, share_file};
use pi_subagents_vocabulary::SharedCheckout;

/// Marks a child as at work in its checkout until the result is dropped. A mark that cannot be made
/// only costs a warning of somebody's gate.
pub(crate) fn mark_at_work(shared: Option<&SharedCheckout>) -> Option<HeldLock> {
    let lock = &shared?.work_lock;
    create_directories(lock.parent()?).ok()?;
    share_file(lock, Duration::ZERO).ok()
}

/// Returns whether any child is at work in the checkout.
pub(crate) fn is_at_work(shared: &SharedCheckout) -> bool {
    matches!(
        lock_file(&shared.work_lock, Duration::ZERO),
        Err(LockError::Held { .. })
    )
}

/// The turn of a gate in its checkout.
#[derive(Debug)]
pub(crate) enum GateTurn {
    /// Nobody else runs one until this is dropped. There is no lock where none can be made.
    Mine {
        #[expect(dead_code, reason = "it is held, and freed by being dropped")]
        lock: Option<HeldLock>,
    },
    /// Another gate runs.
    Taken,
}

/// Takes the turn of a gate, if it is free.
pub(crate) fn take_gate_turn(shared: &SharedCheckout) -> GateTurn {
    let made = shared.gate_lock.parent().map(create_directories);
    if !matches!(made, Some(Ok(()))) {
        return GateTurn::Mine { lock: None };
    }
    match lock_file(&shared.gate_lock, Duration::ZERO) {
        Ok(lock) => GateTurn::Mine { lock: Some(lock) },
        Err(LockError::Held { .. }) => GateTurn::Taken,
        Err(LockError::Io { .. }) => GateTurn::Mine { lock: None },
    }
}
