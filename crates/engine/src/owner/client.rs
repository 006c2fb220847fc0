//! Asks another owner for something.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::wire::{OwnerReply, OwnerRequest};

/// Why an owner did not answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens on its socket, or the connection broke.
    #[error("the owner cannot be reached at {path}")]
    Unreachable {
        /// The socket.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the owner ended before it answered")]
    NoAnswer,
    /// It answered something we do not understand.
    #[error("the owner's answer is no answer of ours")]
    BadAnswer(#[from] serde_json::Error),
}

/// Sends one request to the owner that listens at `path` and waits for its reply.
pub async fn ask(path: &Path, request: &OwnerRequest) -> Result<OwnerReply, AskError> {
    next_line(path, &mut send(path, request).await?).await
}

/// Sends one request; what comes back is still to be read.
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

/// Waits for the next line of what comes back.
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
