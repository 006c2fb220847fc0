//! Listens on this machine and serves the page.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
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
    listener: TcpListener,
    port: u16,
}

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on 127.0.0.1:{port}")]
pub struct PageError {
    port: u16,
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
        let failed = |source| PageError { port, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    /// Returns the port on which the page is served.
    pub fn port(&self) -> u16 {
        self.port
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
            port: self.port,
        };
        let served = Served::new(runs, power, ended.clone());
        let router = router(served, Arc::new(gate));
        let mut stop = ended;
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(async move {
            // An error means that the sender is gone, which is the end too.
            _ = stop.changed().await;
        });
        let serving = tokio::spawn(async move { serving.await });
        told_to_end.await;
        end.send_replace(());
        // A page that does not read cannot keep us from ending.
        _ = timeout(PATIENCE, serving).await;
    }
}
