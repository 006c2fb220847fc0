//! Listens on this machine and serves the page.

use std::fs::{self, Permissions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::time::timeout;

use pi_subagents_loopback::serve;
use pi_subagents_runs::follow::FileChanges;
use pi_subagents_runs::page_address::Power;
use pi_subagents_vocabulary::Timestamp;

use crate::admission::Gate;
use crate::answers::ServedRuns;
use crate::codes::Codes;
use crate::own_names::OwnNames;
use crate::routes::{Site, router};
use crate::streams::Streams;
use crate::tokens::CurrentTokens;

/// The time that connections may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server that listens and serves nobody yet.
pub(crate) struct PageServer {
    listener: Listener,
    /// The time at which it began to listen. Codes that were made before are not taken.
    since: Timestamp,
}

enum Listener {
    Port(TcpListener, u16),
    Socket(UnixListener, PathBuf),
}

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {place}")]
pub(crate) struct PageError {
    place: String,
    source: io::Error,
}

impl PageError {
    /// Returns whether somebody else listens there already.
    pub(crate) fn is_in_use(&self) -> bool {
        self.source.kind() == io::ErrorKind::AddrInUse
    }
}

impl PageServer {
    /// Listens on a port of this machine; 0 is any that is free. Other machines cannot reach it.
    pub(crate) async fn listen(port: u16) -> Result<Self, PageError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |source| PageError {
            place: address.to_string(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self {
            listener: Listener::Port(listener, port),
            since: Timestamp::now(),
        })
    }

    /// Listens on a socket in the file system that only this user can open, such as one end of
    /// `ssh -L`. A socket that nobody serves any more is replaced.
    pub(crate) fn listen_at(path: &Path) -> Result<Self, PageError> {
        let listening = || {
            remove_abandoned(path)?;
            let listener = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            Ok(listener)
        };
        let listener = listening().map_err(|source| PageError {
            place: path.display().to_string(),
            source,
        })?;
        Ok(Self {
            listener: Listener::Socket(listener, path.to_owned()),
            since: Timestamp::now(),
        })
    }

    /// Returns the port on which the page is served, unless it is served on a socket.
    pub(crate) fn port(&self) -> Option<u16> {
        match &self.listener {
            Listener::Port(_, port) => Some(*port),
            Listener::Socket(..) => None,
        }
    }

    /// Serves the page to every client that has a token, until `end` ends.
    pub(crate) async fn serve(
        self,
        runs: ServedRuns,
        tokens: CurrentTokens,
        power: Power,
        end: impl Future<Output = ()>,
    ) {
        let (stop, stopped) = watch::channel(());
        let (close, closed) = watch::channel(());
        let agent_dir = runs.agent_dir();
        let site = Site {
            runs,
            power,
            streams: Streams::new(closed),
        };
        let gate = Arc::new(Gate {
            tokens,
            codes: Codes::new(self.since),
            names: OwnNames { port: self.port() },
        });
        let router = router(site, Arc::clone(&gate));
        let serving = tokio::spawn(serve_until(self.listener, router, stopped));
        tokio::select! {
            () = end => {}
            () = close_when_revoked(&gate, &agent_dir, &close) => {}
        }
        close.send_replace(());
        stop.send_replace(());
        // A page that does not read cannot keep us from ending.
        _ = timeout(PATIENCE, serving).await;
    }
}

/// Closes all streams whenever the tokens were renewed: who has the new token opens them again.
/// Never ends.
async fn close_when_revoked(gate: &Gate, agent_dir: &Path, close: &watch::Sender<()>) {
    let files = FileChanges::of_directory(agent_dir);
    let mut known = gate.tokens.now();
    loop {
        files.next().await;
        let now = gate.tokens.now();
        let is_same = match (&known, &now) {
            (Some(known), Some(now)) => Arc::ptr_eq(known, now),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !is_same {
            close.send_replace(());
            known = now;
        }
    }
}

async fn serve_until(listener: Listener, router: Router, stopped: watch::Receiver<()>) {
    match listener {
        Listener::Port(listener, _) => serve(listener, router, stopped).await,
        Listener::Socket(listener, path) => {
            serve(listener, router, stopped).await;
            // A socket that stays is replaced by the next server.
            _ = fs::remove_file(path);
        }
    }
}

/// Removes a socket that nobody listens on. Anything else that stands there stays.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is a file that is not a socket",
        )),
        Ok(_) if UnixStream::connect(path).is_ok() => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "somebody listens there already",
        )),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
