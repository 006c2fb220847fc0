//! One file per command, or per few that share their shape.

pub(crate) mod agent;
pub(crate) mod attach;
mod call;
pub(crate) mod control;
pub(crate) mod delegate;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod host;
pub(crate) mod keeper;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod named_task;
pub(crate) mod profile;
pub(crate) mod read;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod spawn;
pub(crate) mod status;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod wait;
pub(crate) mod warden;

use std::future::Future;
use std::time::Duration;

use crate::error::CommandError;

/// How long a thread that waits is kept: longer than most owners live.
const LONG: Duration = Duration::from_hours(24);

/// Runs the async part of a command on this thread.
fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        // A thread that is there once is there when the system gives no more.
        .thread_keep_alive(LONG)
        .build()
        .map_err(|error| CommandError::failed("no async runtime").because(&error))?;
    let done = runtime.block_on(work);
    // The work is over; a read of stdin that still waits for somebody keeps nobody here.
    runtime.shutdown_background();
    done
}
