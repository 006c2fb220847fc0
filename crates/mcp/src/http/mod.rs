//! The same server over HTTP on this machine, for clients that start no programs.
//!
//! Only loopback addresses are listened on, and every request must carry the token. Requests
//! from a page in a browser, which bring an origin or the name of another host, are refused.

mod open;
mod token;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub(crate) use self::open::open;
pub(crate) use self::token::Token;
use crate::calls::Calls;
use crate::door::Door;
use crate::serve::{LONGEST_LINE, PATIENCE};
use crate::tasks::Tasks;
use crate::tools::{Introduction, Tools};

/// The path to which requests go.
const PATH: &str = "/mcp";

/// A server that listens and serves nobody yet.
pub(crate) struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
}

/// The reason why nobody can be served over HTTP.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// Other machines could reach the address.
    #[error("{0} is no loopback address")]
    NotLoopback(SocketAddr),
    /// The system does not let us listen there.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
}

impl HttpServer {
    /// Listens on an address of this machine; port 0 is any that is free.
    pub(crate) async fn listen(address: SocketAddr) -> Result<Self, HttpError> {
        if !address.ip().is_loopback() {
            return Err(HttpError::NotLoopback(address));
        }
        let failed = |source| HttpError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Returns the address at which clients find the server.
    pub(crate) fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves tools to every client that has the token, until `told_to_end` ends. Returns when all
    /// calls are over.
    pub(crate) async fn serve(
        self,
        tools: Arc<dyn Tools>,
        introduction: Introduction,
        token: Token,
        told_to_end: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) {
        let calls = Calls::new();
        let ended = CancellationToken::new();
        let tasks = Tasks::default();
        let under_way = calls.clone();
        let door_ended = ended.clone();
        let door = move || {
            let tools = Arc::clone(&tools);
            let (introduction, tasks) = (introduction.clone(), tasks.clone());
            let (calls, ended) = (calls.clone(), door_ended.clone());
            Ok(Door::new(tools, introduction, calls, tasks, ended))
        };
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(door, sessions, config(self.address, &ended));
        let router = Router::new()
            .route_service(PATH, service)
            .layer(from_fn_with_state(Arc::new(token), admit));
        let stop = ended.clone();
        let serving = axum::serve(self.listener, router)
            .with_graceful_shutdown(async move { stop.cancelled().await });
        let serving = tokio::spawn(async move { serving.await });
        told_to_end.await;
        // Their answers are sent before the connections are closed.
        under_way.all_over().await;
        ended.cancel();
        // A client that does not read cannot keep us from ending.
        _ = timeout(PATIENCE, serving).await;
    }
}

fn config(address: SocketAddr, ended: &CancellationToken) -> StreamableHttpServerConfig {
    let port = address.port();
    let hosts = [
        address.to_string(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST_LINE)
        .with_cancellation_token(ended.child_token())
}

/// Lets requests with the token pass.
async fn admit(State(token): State<Arc<Token>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer "));
    if given.is_some_and(|given| token.is(given)) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    let text =
        "The token of this server is missing or wrong. Send it as: Authorization: Bearer TOKEN\n";
    (StatusCode::UNAUTHORIZED, challenge, text).into_response()
}
