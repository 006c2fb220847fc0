//! Waits for an answer of the fleet on a thread of its own, because the caller may be a thread of the
//! runtime.

use std::future::Future;
use std::thread;
use std::time::Duration;

use tokio::time::timeout;

/// Waits for some work with the fleet, at most for so long.
pub(super) fn wait_for<T: Send>(
    patience: Duration,
    work: impl Future<Output = Result<T, String>> + Send,
) -> Result<T, String> {
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| error.to_string())?;
            let done = runtime.block_on(async { timeout(patience, work).await });
            done.unwrap_or_else(|_| Err(format!("it took longer than {} s", patience.as_secs())))
        });
        let panicked = |_| Err("a thread has failed".to_owned());
        waiting.join().unwrap_or_else(panicked)
    })
}
