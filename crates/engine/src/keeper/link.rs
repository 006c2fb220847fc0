//! The owner's side of a keeper.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use pi_subagents_os::ProcessName;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::handover::ChildCommand;
use super::wire::{Order, Report};

/// The time that a keeper which has nothing left to do may take to exit.
const TO_EXIT: Duration = Duration::from_secs(2);

/// The control socket and the process of one keeper.
///
/// The socket closes when the link is dropped; the keeper takes that for the end of its owner.
#[derive(Debug)]
pub(crate) struct KeeperLink {
    process: ProcessName,
    /// Ends when the keeper's process has ended and is reaped.
    reaped: JoinHandle<()>,
    orders: StdStream,
    reports: Lines<BufReader<UnixStream>>,
}

impl KeeperLink {
    pub(crate) fn new(
        process: ProcessName,
        reaped: JoinHandle<()>,
        control: StdStream,
    ) -> io::Result<Self> {
        let orders = control.try_clone()?;
        control.set_nonblocking(true)?;
        Ok(Self {
            process,
            reaped,
            orders,
            reports: BufReader::new(UnixStream::from_std(control)?).lines(),
        })
    }

    pub(crate) fn process(&self) -> ProcessName {
        self.process
    }

    /// Sends the keeper the command of its child, and waits for its first report; `None` when the
    /// keeper is gone.
    pub(crate) async fn begin(&mut self, command: &ChildCommand) -> Option<Report> {
        let control = self.reports.get_mut().get_mut();
        control.write_all(&command.to_bytes().ok()?).await.ok()?;
        self.next().await
    }

    /// Waits for the keeper's next report; `None` when the keeper is gone. Cancelling loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> Option<Report> {
        let line = self.reports.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    /// Sends an order. A keeper that is gone shows that by its reports.
    fn order(&mut self, order: Order) {
        let mut line = serde_json::to_string(&order).unwrap_or_default();
        line.push('\n');
        // The socket does not block, and all orders of a run fit into it.
        _ = self.orders.write_all(line.as_bytes());
    }

    /// Orders the keeper to end the tree.
    pub(crate) fn stop(&mut self, grace: Duration) {
        self.order(Order::Stop { grace });
        self.rouse();
    }

    /// Sends the keeper the time that the run has left, so that it can end the run if we are
    /// stopped and do not.
    pub(crate) fn send_deadline(&mut self, left: Duration) {
        self.order(Order::Deadline { left });
    }

    /// Orders the keeper to stop every process of the tree.
    pub(crate) fn pause(&mut self) {
        self.order(Order::Pause);
        self.rouse();
    }

    /// Orders the keeper to let the tree go on.
    pub(crate) fn resume(&mut self) {
        self.order(Order::Resume);
        self.rouse();
    }

    /// Continues a keeper that somebody has stopped.
    pub(crate) fn rouse(&self) {
        self.process.rouse();
    }

    /// Kills a keeper that does not do its work. The processes that it kept become ours.
    pub(crate) fn kill(&self) {
        self.process.kill();
    }

    /// Waits until the keeper's process has ended.
    pub(crate) async fn ended(mut self) {
        // Its reports had everything; here it is only reaped.
        if timeout(TO_EXIT, &mut self.reaped).await.is_err() {
            self.kill();
            _ = timeout(TO_EXIT, &mut self.reaped).await;
        }
    }
}
