//! A client that has hung up and reads nothing: it cannot keep us here.
//!
//! While an answer cannot be written, nothing is read, so that the end of the input would not be
//! seen. The system reports it beside reading.

use std::future::pending;
use std::io::stdin;
use std::os::fd::AsFd as _;
use std::thread;
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, System};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::watched_pipes::ByteCount;

/// The time that a client which has hung up may take to read the next bytes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits until the client at stdin has hung up and reads nothing any more. It never ends if the
/// system does not report hanging up, as with a file; then reading sees the end.
pub(crate) async fn has_left(written: ByteCount) {
    if hung_up().await.is_err() {
        return pending().await;
    }
    loop {
        let before = written.get();
        sleep(PATIENCE).await;
        if written.get() == before {
            return;
        }
    }
}

/// Waits for the other end of stdin to be closed, in a thread that nobody joins: it holds nothing,
/// and ends with the process.
fn hung_up() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    let wait = move || {
        if System::wait_for_hang_up(stdin().as_fd()).is_ok() {
            // The connection may be over already.
            _ = sender.send(());
        }
    };
    // Without the thread, reading sees the end.
    _ = thread::Builder::new()
        .name("hang-up".to_owned())
        .spawn(wait);
    receiver
}
