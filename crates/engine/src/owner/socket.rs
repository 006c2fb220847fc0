//! Listens for what other processes ask of this owner.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pi_subagents_delegation::RunId;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::wire::{OwnerReply, OwnerRequest, Want};
use crate::Engine;

/// A longer request is none of ours.
const LONGEST_REQUEST: u64 = 16 << 20;

/// The socket of this owner; it is removed when this is dropped.
#[derive(Debug)]
pub struct OwnerSocket {
    path: PathBuf,
    listener: JoinHandle<()>,
}

impl OwnerSocket {
    /// Listens in this directory, which only the user may enter, until it is dropped.
    pub fn listen(directory: &Path, engine: Engine) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let path = directory.join(format!("{}.sock", std::process::id()));
        // A process that had our number before us may have been killed and left its socket.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        Ok(Self {
            path,
            listener: tokio::spawn(listen(listener, engine)),
        })
    }

    /// Where it listens.
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

async fn listen(listener: UnixListener, engine: Engine) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                connections.spawn(serve(stream, engine.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(mut stream: UnixStream, engine: Engine) {
    let (reader, mut writer) = stream.split();
    let mut line = String::new();
    let mut reader = BufReader::new(reader.take(LONGEST_REQUEST));
    let reply = match reader.read_line(&mut line).await {
        Ok(0) | Err(_) => return,
        Ok(_) => match serde_json::from_str(&line) {
            Ok(request) => answer(request, &engine).await,
            Err(error) => OwnerReply::Refused {
                message: format!("no request of ours: {error}"),
            },
        },
    };
    let mut line = serde_json::to_string(&reply).unwrap_or_default();
    line.push('\n');
    // Whoever asked may have left.
    _ = writer.write_all(line.as_bytes()).await;
}

async fn answer(request: OwnerRequest, engine: &Engine) -> OwnerReply {
    let outcome = match RunId::parse(&request.run) {
        Err(error) => Err(error.to_string()),
        Ok(run) => match request.want {
            Want::Stop => engine.stop(run).await.map(drop).map_err(text),
            Want::Wait => engine.wait(run).await.map(drop).map_err(text),
            Want::Steer { message } => engine.steer(run, message).await.map_err(text),
        },
    };
    match outcome {
        Ok(()) => OwnerReply::Done,
        Err(message) => OwnerReply::Refused { message },
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands where errors are mapped"
)]
fn text(error: impl std::error::Error) -> String {
    error.to_string()
}
