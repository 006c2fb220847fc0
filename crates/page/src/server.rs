//! Listens on this machine and serves the page.

use std::fs::{self, Permissions};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::admission::Gate;
use crate::routes::{Served, router};
use crate::runs::Runs;
use crate::token::{Power, Tokens};

/// The time that connections may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server that listens and serves nobody yet.
pub struct PageServer {
    listener: Listener,
}

enum Listener {
    Port(TcpListener, u16),
    Socket(UnixListener, PathBuf),
}

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {place}")]
pub struct PageError {
    place: String,
    source: io::Error,
}

impl PageError {
    /// Returns whether somebody else listens there already.
    pub fn is_in_use(&self) -> bool {
        self.source.kind() == io::ErrorKind::AddrInUse
    }
}

impl PageServer {
    /// Listens on a port of this machine; 0 is any that is free. Other machines cannot reach it.
    pub async fn listen(port: u16) -> Result<Self, PageError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |source| PageError {
            place: address.to_string(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self {
            listener: Listener::Port(listener, port),
        })
    }

    /// Listens on a socket in the file system that only this user can open, such as one end of
    /// `ssh -L`. A socket that nobody serves any more is replaced.
    pub fn listen_at(path: &Path) -> Result<Self, PageError> {
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
        })
    }

    /// Returns the port on which the page is served, unless it is served on a socket.
    pub fn port(&self) -> Option<u16> {
        match &self.listener {
            Listener::Port(_, port) => Some(*port),
            Listener::Socket(..) => None,
        }
    }

    /// Serves the page to every client that has a token, until `told_to_end` ends.
    pub async fn serve(
        self,
        runs: Arc<dyn Runs>,
        tokens: Tokens,
        power: Power,
        told_to_end: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) {
        let (end, ended) = watch::channel(());
        let gate = Gate {
            tokens,
            port: self.port(),
        };
        let served = Served::new(runs, power, ended.clone());
        let router = router(served, Arc::new(gate));
        let serving = tokio::spawn(serve_until(self.listener, router, ended));
        told_to_end.await;
        end.send_replace(());
        // A page that does not read cannot keep us from ending.
        _ = timeout(PATIENCE, serving).await;
    }
}

async fn serve_until(listener: Listener, router: Router, mut ended: watch::Receiver<()>) {
    let told = async move {
        // An error means that the sender is gone, which is the end too.
        _ = ended.changed().await;
    };
    // Serving itself never fails; connections that do are their own affair.
    match listener {
        Listener::Port(listener, _) => {
            _ = axum::serve(listener, router)
                .with_graceful_shutdown(told)
                .await;
        }
        Listener::Socket(listener, path) => {
            _ = axum::serve(listener, router)
                .with_graceful_shutdown(told)
                .await;
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
            "there is a file that is no socket",
        )),
        Ok(_) if UnixStream::connect(path).is_ok() => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "somebody listens there already",
        )),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
