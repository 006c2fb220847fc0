//! The server, on a thread and a runtime of its own.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use tokio::sync::oneshot;

use super::answer::answer;
use super::script::{Rule, Script};
use super::state::{Request, State};
use crate::wait::wait_until;

/// A running server; dropping it closes every connection.
#[derive(Debug)]
pub struct LlmServer {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LlmServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the address of the server");
        let state = State::new(script);
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&state);
        let thread = thread::spawn(move || {
            serve(listener, served, stopped).expect("a server that serves");
        });
        Self {
            address,
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the base URL as `models.json` wants it, `http://127.0.0.1:<port>/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the address, for tests that write HTTP by hand.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a rule that is asked before all others, for facts that a test learns while it runs.
    pub fn add(&self, rule: Rule) {
        self.state.add(rule);
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.requests()
    }

    /// Waits until this number of requests has come, and returns them.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize, patience: Duration) -> Vec<Request> {
        let come = || (self.state.request_count() >= count).then_some(());
        assert!(
            wait_until(patience, come).is_some(),
            "{} of {count} requests came within {patience:?}",
            self.state.request_count()
        );
        self.requests()
    }

    /// Returns how many requests are open now: asked and not answered to the end.
    pub fn concurrent(&self) -> usize {
        self.state.open_now()
    }

    /// Returns how many requests were open at once at most.
    pub fn max_concurrent(&self) -> usize {
        self.state.open_most()
    }

    /// Opens a gate, for the turns that wait at it and for later ones.
    pub fn release(&self, gate: &str) {
        self.state.release(gate);
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    listener: TcpListener,
    state: Arc<State>,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let router = Router::new().fallback(answer).with_state(state);
        tokio::select! {
            served = axum::serve(listener, router).into_future() => served,
            _ = stopped => Ok(()),
        }
    })
}
