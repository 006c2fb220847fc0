//! The two ends of the wire: lines in, lines out, and the waiters for answers.
//!
//! Both ends are threads: a blocked read or write of a pipe must not hold up the runs, and this
//! process must be able to end during a read.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as threads};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tracing::debug;

use super::wire::{self, Incoming, RpcError};
use pi_subagents_ground::error::CommandError;

/// The number of lines that may wait to be read by us; beyond that pi waits.
const LINES_IN: usize = 64;

/// The number of lines on their way out from which on repeated messages are left out.
const CROWDED: usize = 16;

/// The time that the last lines may take when we leave.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Our end of the wire. Clones share it.
#[derive(Clone)]
pub(super) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    /// Unbounded: an answer must not be lost, and the sender of frequent messages looks at
    /// `waiting` first.
    outgoing: threads::Sender<String>,
    waiting: Arc<AtomicUsize>,
    asked: Mutex<Asked>,
}

/// The requests of ours that have no answer yet.
#[derive(Default)]
struct Asked {
    last_id: u64,
    open: HashMap<u64, oneshot::Sender<Value>>,
    is_closed: bool,
}

/// The lines from the other side.
pub(super) struct Lines {
    incoming: mpsc::Receiver<Vec<u8>>,
    connection: Connection,
    written: threads::Receiver<()>,
}

/// Takes over stdin and stdout.
pub(super) fn open() -> Result<(Connection, Lines), CommandError> {
    let (outgoing, out) = threads::channel();
    let (done, written) = threads::channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let still_waiting = Arc::clone(&waiting);
    spawn("wire-out", move || {
        write_lines(&out, &still_waiting);
        // The receiver may be gone.
        _ = done.send(());
    })?;
    let (sender, incoming) = mpsc::channel(LINES_IN);
    spawn("wire-in", move || read_lines(&sender))?;
    let connection = Connection {
        shared: Arc::new(Shared {
            outgoing,
            waiting,
            asked: Mutex::default(),
        }),
    };
    let lines = Lines {
        incoming,
        connection: connection.clone(),
        written,
    };
    Ok((connection, lines))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), CommandError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|error| {
            CommandError::failed("could not start the thread that reads from pi").because(&error)
        })
}

fn read_lines(lines: &mpsc::Sender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(1..) if lines.blocking_send(line).is_ok() => {}
            _ => return,
        }
    }
}

fn write_lines(lines: &threads::Receiver<String>, waiting: &AtomicUsize) {
    let mut output = io::stdout().lock();
    let mut is_open = true;
    for line in lines {
        // If the reader has left, its end of stdin shows it.
        is_open = is_open
            && output
                .write_all(line.as_bytes())
                .and_then(|()| output.flush())
                .is_ok();
        waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.send(&wire::notification(method, params));
    }

    /// Sends a message that will be sent again soon, unless the reader is slow.
    pub(super) fn send_if_calm(&self, line: impl FnOnce() -> Option<String>) {
        if self.shared.waiting.load(Ordering::Relaxed) < CROWDED
            && let Some(line) = line()
        {
            self.send_line(line);
        }
    }

    /// Asks the other side; no answer when it refuses, fails or is gone.
    pub(super) async fn ask(&self, method: &str, params: &Value) -> Option<Value> {
        let (id, answer) = {
            let mut asked = self.asked();
            if asked.is_closed {
                return None;
            }
            asked.last_id += 1;
            let (sender, answer) = oneshot::channel();
            let id = asked.last_id;
            asked.open.insert(id, sender);
            (id, answer)
        };
        debug!(id, method, "pi is asked");
        self.send(&wire::request(id, method, params));
        answer.await.ok()
    }

    pub(super) fn answer(&self, id: &Value, outcome: Result<Value, RpcError>) {
        debug!(%id, is_error = outcome.is_err(), "pi is answered");
        self.send(&wire::response(id, outcome));
    }

    fn send(&self, message: &Value) {
        self.send_line(wire::to_line(message));
    }

    fn send_line(&self, line: String) {
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        // Without a writer we are about to leave.
        _ = self.shared.outgoing.send(line);
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        let asked = self.shared.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up on all answers, now and later.
    pub(super) fn close(&self) {
        let mut asked = self.asked();
        asked.is_closed = true;
        asked.open.clear();
    }
}

impl Lines {
    /// Waits for the next request or notification; `None` when pi is gone.
    pub(super) async fn next(&mut self) -> Option<Incoming> {
        loop {
            let line = self.incoming.recv().await?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match Incoming::parse(&line) {
                Ok(Incoming::Response { id, result }) => self.answered(id, result),
                Ok(incoming) => {
                    incoming.log();
                    return Some(incoming);
                }
                Err((id, error)) => self.connection.answer(&id, Err(error)),
            }
        }
    }

    /// Hands an answer of pi to the asker. An error drops the sender, so the asker learns that
    /// there is no answer.
    fn answered(&self, id: u64, result: Option<Value>) {
        debug!(id, is_error = result.is_none(), "pi answered");
        let waiting = self.connection.asked().open.remove(&id);
        if let (Some(waiting), Some(result)) = (waiting, result) {
            // The asker may have stopped waiting.
            _ = waiting.send(result);
        }
    }

    /// Waits until all messages are written, if anybody reads them. All other handles are gone.
    pub(super) fn finish(self) {
        let Self {
            connection,
            written,
            ..
        } = self;
        drop(connection);
        // A pi that does not read does not get the rest.
        _ = written.recv_timeout(LAST_WORDS);
    }
}
