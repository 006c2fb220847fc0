//! A client that has hung up and reads nothing: it cannot keep us here.
//!
//! While an answer cannot be written nothing is read, so the end of stdin would not be seen. The
//! system reports it beside reading.

use std::io::stdin;
use std::os::fd::AsFd as _;
use std::thread;
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, System};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::writing::Outgoing;

/// The time that a client which has hung up may take to read the next bytes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits until the client has hung up and reads nothing; then all is over.
pub(super) fn watch(
    outgoing: Outgoing,
    tasks: [AbortHandle; 2],
    ended: CancellationToken,
) -> impl Future<Output = ()> {
    let hung_up = hung_up();
    async move {
        if hung_up.await.is_err() {
            // The system cannot report it; the end of stdin is seen by reading.
            return;
        }
        loop {
            let before = outgoing.bytes();
            sleep(PATIENCE).await;
            if outgoing.is_writing() && outgoing.bytes() == before {
                break;
            }
        }
        ended.cancel();
        tasks.iter().for_each(AbortHandle::abort);
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
