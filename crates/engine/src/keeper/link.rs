//! The owner's side of a keeper.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;

use super::wire::{Order, Report};

/// The control socket and the process of one keeper.
///
/// The socket closes when the link is dropped, which tells the keeper that its owner is gone.
#[derive(Debug)]
pub(crate) struct KeeperLink {
    pid: u32,
    /// Ends when the keeper's process has ended and is reaped.
    reaped: JoinHandle<()>,
    orders: StdStream,
    reports: Lines<BufReader<UnixStream>>,
}

impl KeeperLink {
    pub(crate) fn new(pid: u32, reaped: JoinHandle<()>, control: StdStream) -> io::Result<Self> {
        let orders = control.try_clone()?;
        control.set_nonblocking(true)?;
        Ok(Self {
            pid,
            reaped,
            orders,
            reports: BufReader::new(UnixStream::from_std(control)?).lines(),
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits for the keeper's next report; `None` when the keeper is gone. Cancelling loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> Option<Report> {
        let line = self.reports.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    /// Tells the keeper to end the tree. A keeper that is gone shows that by its reports.
    pub(crate) fn stop(&mut self, grace: Duration) {
        let mut line = serde_json::to_string(&Order::Stop { grace }).unwrap_or_default();
        line.push('\n');
        _ = self.orders.write_all(line.as_bytes());
    }

    /// Waits until the keeper's process has ended.
    pub(crate) async fn ended(self) {
        // Its reports said all there is to know; here it is only reaped.
        _ = self.reaped.await;
    }
}
