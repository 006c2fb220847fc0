//! Sends requests to other owners.

use std::io;
use std::path::Path;
use std::time::Duration;

use pi_subagents_os::ProcessName;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};
use tracing::debug;

use super::wire::{OwnerReply, OwnerRequest, Want};

/// The time that an owner may take to end a run. The owner gives a stubborn tree six seconds.
const TO_STOP: Duration = Duration::from_secs(10);

/// The time that an owner may take to hand something on to a child.
const TO_SEND: Duration = Duration::from_secs(10);

/// The pause between two looks whether an owner that does not answer was stopped.
const LOOK_AT_OWNER: Duration = Duration::from_millis(250);

/// The reason why an owner did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens on its socket, or the connection broke.
    #[error("the owner cannot be reached at {path}")]
    Unreachable {
        /// The socket.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Somebody stopped its process, so it answers nothing.
    #[error(
        "the process that started this run (pid {pid}) is suspended; continue it with kill -CONT {pid}"
    )]
    Stopped {
        /// The owner's process.
        pid: u32,
    },
    /// It is there and does not answer.
    #[error("the owner did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// It ended before it answered.
    #[error("the owner ended before it answered")]
    NoAnswer,
    /// It answered something we do not understand.
    #[error("the process that started the run sent an unknown answer")]
    BadAnswer(#[from] serde_json::Error),
}

/// The address of an owner: its socket and its process.
#[derive(Debug, Clone, Copy)]
pub struct OwnerAddress<'a> {
    /// Its socket.
    pub socket: &'a Path,
    /// Its process, if it is on this machine.
    pub process: Option<ProcessName>,
}

/// Sends one request to an owner and waits for its reply. Does not wait for an owner that is
/// stopped or does not answer in time.
///
/// An owner acts on a request as soon as it has read it. So an error or a dropped future does not
/// mean that nothing was done: a stop may have its effect after its asker has given up, and whoever
/// goes on without the owner (`end_without_owner`) must find a run that ends meanwhile in order.
pub async fn ask(owner: OwnerAddress<'_>, request: &OwnerRequest) -> Result<OwnerReply, AskError> {
    let socket = owner.socket.display();
    debug!(run = request.run, want = request.want.as_str(), %socket, "owner is asked");
    let limit = match &request.want {
        Want::Stop => Some(TO_STOP),
        Want::Send(_) => {
            // The message would reach the child whenever the owner is continued, to everybody's
            // surprise.
            not_stopped(owner.process)?;
            Some(TO_SEND)
        }
        Want::Wait | Want::PartialMessages { .. } => None,
    };
    let reply = async { next_line(owner.socket, &mut send(owner.socket, request).await?).await };
    tokio::select! {
        reply = in_time(limit, reply) => reply,
        pid = stopped(owner.process) => Err(AskError::Stopped { pid }),
    }
}

async fn in_time<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, AskError>>,
) -> Result<T, AskError> {
    match limit {
        Some(limit) => timeout(limit, work)
            .await
            .unwrap_or(Err(AskError::Silent(limit))),
        None => work.await,
    }
}

fn not_stopped(process: Option<ProcessName>) -> Result<(), AskError> {
    match process.filter(|process| process.is_stopped()) {
        Some(ProcessName { pid, .. }) => Err(AskError::Stopped { pid }),
        None => Ok(()),
    }
}

/// Waits until a process is seen stopped twice in a row. A process that is continued at once still
/// answers.
async fn stopped(process: Option<ProcessName>) -> u32 {
    let Some(process) = process else {
        return std::future::pending().await;
    };
    let mut looks = 0;
    while looks < 2 {
        sleep(LOOK_AT_OWNER).await;
        looks = if process.is_stopped() { looks + 1 } else { 0 };
    }
    process.pid
}

/// Sends one request. The caller reads the reply.
pub(super) async fn send(
    path: &Path,
    request: &OwnerRequest,
) -> Result<BufReader<UnixStream>, AskError> {
    let unreachable = |source| AskError::unreachable(path, source);
    let mut stream = UnixStream::connect(path).await.map_err(unreachable)?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    stream
        .write_all(line.as_bytes())
        .await
        .map_err(unreachable)?;
    Ok(BufReader::new(stream))
}

/// Waits for the next line from the owner.
pub(super) async fn next_line<T: DeserializeOwned>(
    path: &Path,
    stream: &mut BufReader<UnixStream>,
) -> Result<T, AskError> {
    let mut answer = String::new();
    let read = stream
        .read_line(&mut answer)
        .await
        .map_err(|source| AskError::unreachable(path, source))?;
    if read == 0 {
        return Err(AskError::NoAnswer);
    }
    Ok(serde_json::from_str(&answer)?)
}

impl AskError {
    fn unreachable(path: &Path, source: io::Error) -> Self {
        Self::Unreachable {
            path: path.display().to_string(),
            source,
        }
    }
}
