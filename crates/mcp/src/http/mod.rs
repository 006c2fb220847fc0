//! The same server over HTTP on this machine, for clients that start no programs.
//!
//! Only loopback addresses are listened on, and every request must carry the token. Requests
//! from a page in a browser, which bring an origin or the name of another host, are refused; pages of
//! this machine are let in if its user says so.

mod open;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use pi_subagents_loopback::{Connection, Token, bearer, serve};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub(crate) use self::open::open;
use crate::calls::Calls;
use crate::serve::{LONGEST_LINE, PATIENCE};
use crate::tool_server::ToolServer;
use crate::tools::{Introduction, Tools};

/// The path to which requests go.
const PATH: &str = "/mcp";

/// A server that listens and serves nobody yet.
pub(crate) struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    origins: AllowedOrigins,
}

/// The pages in a browser whose requests are let in, if they have the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// No page.
    None,
    /// Pages that this machine serves, at any port.
    Local,
}

impl AllowedOrigins {
    fn list(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Local => &["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"],
        }
    }
}

/// The reason why nobody can be served over HTTP.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// Other machines could reach the address.
    #[error("{0} is not a loopback address")]
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
    pub(crate) async fn listen(
        address: SocketAddr,
        origins: AllowedOrigins,
    ) -> Result<Self, HttpError> {
        if !address.ip().is_loopback() {
            return Err(HttpError::NotLoopback(address));
        }
        let failed = |source| HttpError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            origins,
        })
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
        let under_way = calls.clone();
        let server_ended = ended.clone();
        let server = move || {
            let tools = Arc::clone(&tools);
            let introduction = introduction.clone();
            let (calls, ended) = (calls.clone(), server_ended.clone());
            Ok(ToolServer::new(tools, introduction, calls, ended))
        };
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(server, sessions, config(&self, &ended));
        let router = Router::new()
            .route_service(PATH, service)
            .layer(from_fn_with_state(Arc::new(token), admit));
        let (stop, stopped) = watch::channel(());
        let serving = tokio::spawn(serve(self.listener, router, stopped));
        told_to_end.await;
        // Their answers are sent before the connections are closed.
        under_way.all_over().await;
        ended.cancel();
        drop(stop);
        // A client that does not read cannot keep us from ending.
        _ = timeout(PATIENCE, serving).await;
    }
}

fn config(server: &HttpServer, ended: &CancellationToken) -> StreamableHttpServerConfig {
    let address = server.address;
    let port = address.port();
    let hosts = [
        address.to_string(),
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
    ];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(server.origins.list().iter().copied())
        .enforce_origin_validation()
        .with_max_request_body_bytes(LONGEST_LINE)
        .with_cancellation_token(ended.child_token())
}

/// Returns whether a request says that its body is JSON.
fn has_json_body(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("application/json"))
}

/// Answers a body that is not a message. The library calls it a wrong media type, which sends whoever
/// writes a client to look at its headers.
fn unreadable() -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {
        "code": ErrorCode::PARSE_ERROR.0,
        "message": "The body is not a message: it must be one JSON object with jsonrpc, method and, for a request, an id.",
    }});
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::BAD_REQUEST, kind, error.to_string()).into_response()
}

/// Lets requests with the token pass.
async fn admit(
    State(token): State<Arc<Token>>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Response {
    if bearer(request.headers()).is_some_and(|given| token.is(given)) {
        connection.admit();
        let is_json = has_json_body(&request);
        let response = next.run(request).await;
        return if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            unreadable()
        } else {
            response
        };
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    let text =
        "The token of this server is missing or wrong. Send it as: Authorization: Bearer TOKEN\n";
    (StatusCode::UNAUTHORIZED, challenge, text).into_response()
}
