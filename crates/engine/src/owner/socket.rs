//! Listens for requests of other processes to this owner.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::{RunId, RunSummary};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use tracing::debug;

use super::partial_stream::send_partial_messages;
use super::sockets::{hold, own_path, remove_abandoned};
use super::wire::{OwnerReply, OwnerRequest, Want};
use crate::engine::Engine;
use crate::request::NotRunning;
use crate::to_child::NotSent;

/// The length of the longest request.
const LONGEST_REQUEST: u64 = 16 << 20;

/// The time for which an owner that leaves waits for its last answers to go out.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// The pause after a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// The socket of this owner. When this is dropped, the file is removed and requests under way end
/// without an answer; [`OwnerSocket::close`] lets them have it.
#[derive(Debug)]
pub struct OwnerSocket {
    path: PathBuf,
    /// The listener takes no more requests once this is dropped.
    is_open: Option<oneshot::Sender<()>>,
    listener: JoinHandle<()>,
}

impl OwnerSocket {
    /// Listens in this directory, which only the user may enter, until it is dropped.
    ///
    /// A client that learns that a run is over will look at its record, so `settle_record` is called
    /// before the reply; it returns when the record is on disk.
    pub fn listen(
        directory: &Path,
        engine: Engine,
        settle_record: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let held = hold(directory);
        if let Some(held) = &held {
            remove_abandoned(directory, held);
        }
        let path = own_path(directory);
        // A process that had our number before us may have been killed and left its socket.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&path)?;
        drop(held);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let (is_open, closed) = oneshot::channel();
        let settle_record = Arc::new(settle_record);
        Ok(Self {
            path,
            is_open: Some(is_open),
            listener: tokio::spawn(listen(listener, engine, settle_record, closed)),
        })
    }

    /// Takes no more requests, and returns when the requests under way are answered.
    pub async fn close(mut self) {
        self.is_open = None;
        // A client that connected and sends nothing is not waited for.
        _ = tokio::time::timeout(LAST_ANSWERS, &mut self.listener).await;
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnerSocket {
    fn drop(&mut self) {
        self.listener.abort();
        // It may have been removed by hand.
        _ = fs::remove_file(&self.path);
    }
}

type SettleRecord = Arc<dyn Fn() + Send + Sync>;

async fn listen(
    listener: UnixListener,
    engine: Engine,
    settle_record: SettleRecord,
    mut closed: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, engine.clone(), Arc::clone(&settle_record)));
                }
                // This process has no descriptor left for now; the client waits in the queue.
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
            _ = &mut closed => break,
        }
    }
    while connections.join_next().await.is_some() {}
}

async fn serve(mut stream: UnixStream, engine: Engine, settle_record: SettleRecord) {
    let (reader, mut writer) = stream.split();
    let mut line = String::new();
    let mut reader = BufReader::new(reader.take(LONGEST_REQUEST));
    let reply = match reader.read_line(&mut line).await {
        Ok(0) | Err(_) => return,
        Ok(_) => match serde_json::from_str(&line) {
            Ok(request) => answer(request, &engine, reader, &mut writer).await,
            Err(error) => OwnerReply::Refused {
                message: format!("no request of ours: {error}"),
            },
        },
    };
    // The disk is waited for on a thread that may wait; if it panics, the record is as it is.
    _ = tokio::task::spawn_blocking(move || settle_record()).await;
    let mut line = serde_json::to_string(&reply).unwrap_or_default();
    line.push('\n');
    // The asker may have left.
    _ = writer.write_all(line.as_bytes()).await;
}

async fn answer(
    request: OwnerRequest,
    engine: &Engine,
    asker: impl AsyncRead + Unpin,
    writer: &mut (impl AsyncWrite + Unpin),
) -> OwnerReply {
    debug!(
        run = request.run,
        want = request.want.as_str(),
        "another process asks"
    );
    let outcome = match RunId::parse(&request.run) {
        Err(error) => Err(error.to_string()),
        Ok(run) => match request.want {
            Want::Stop => ended(engine.stop(run).await),
            Want::Wait => ended(engine.wait(run).await),
            Want::Send(what) => done(engine.send(run, what).await),
            Want::PartialMessages { extent } => match engine.read_partial(run, extent).await {
                Ok(messages) => {
                    send_partial_messages(messages, extent, asker, writer).await;
                    Ok(OwnerReply::Done)
                }
                Err(error) => Err(text(error)),
            },
        },
    };
    debug!(
        run = request.run,
        is_refused = outcome.is_err(),
        "another process is answered"
    );
    match outcome {
        Ok(reply) => reply,
        Err(message) => OwnerReply::Refused { message },
    }
}

fn ended(over: Result<Arc<RunSummary>, NotRunning>) -> Result<OwnerReply, String> {
    over.map(|summary| OwnerReply::ended(&summary))
        .map_err(text)
}

fn done(sent: Result<(), NotSent>) -> Result<OwnerReply, String> {
    sent.map(|()| OwnerReply::Done).map_err(text)
}

fn text(error: impl std::error::Error) -> String {
    error.to_string()
}
