//! The async runtime of a command.

use std::future::Future;
use std::time::Duration;

use crate::error::CommandError;

/// The time for which a waiting thread is kept: longer than most owners live.
const LONG: Duration = Duration::from_hours(24);

/// Runs the async part of a command on this thread.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // A thread that was started once is still there when the system gives no more.
        .thread_keep_alive(LONG)
        .build()
        .map_err(|error| {
            CommandError::failed("could not start the async runtime").because(&error)
        })?;
    let done = runtime.block_on(work);
    // The work is over; a read of stdin that still waits cannot keep us here.
    runtime.shutdown_background();
    done
}
