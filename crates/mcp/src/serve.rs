//! The life of a server: from the first word of its client until nothing is under way.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::io::stdio_pipes;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::bounded_transport::BoundedTransport;
use crate::calls::Calls;
use crate::hang_up::has_left;
use crate::line_transport::LineTransport;
use crate::tool_server::ToolServer;
use crate::tools::{Introduction, Tools};
use crate::watched_pipes::{ByteCount, WatchedInput, WatchedOutput};

/// The time that a client may take to read the last answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The length of the longest line of a client. A longer line is dropped; the same bound holds for
/// requests over HTTP.
pub(crate) const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// The reason why a client could not be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// Its first message was not the protocol.
    #[error("its first message is not one that begins a connection")]
    NoBeginning,
    /// The two sides could not agree on a version of the protocol.
    #[error("the connection did not begin")]
    Beginning(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The library failed; this is a bug.
    #[error("the connection broke")]
    Connection(#[source] tokio::task::JoinError),
}

/// Serves tools to the client at stdin and stdout until stdin ends or `told_to_end` does.
///
/// When stdin ends, all calls are cancelled. When `told_to_end` does, they are not: the caller ends
/// them itself, and their answers are still sent. Either way this returns when all calls are over.
pub(crate) async fn serve(
    tools: Arc<dyn Tools>,
    introduction: Introduction,
    mut told_to_end: Pin<Box<dyn Future<Output = ()>>>,
) -> Result<(), ServeError> {
    let calls = Calls::new();
    let input_ended = CancellationToken::new();
    let connection = CancellationToken::new();
    let server = ToolServer::new(tools, introduction, calls.clone(), input_ended.clone());
    let (reader, writer) = stdio_pipes();
    let (read, written) = (ByteCount::default(), ByteCount::default());
    let reader = WatchedInput::new(reader, input_ended.clone(), read.clone());
    let writer = WatchedOutput::new(writer, written.clone());
    let transport = LineTransport::new(reader, writer, LONGEST_LINE);
    let transport = BoundedTransport::new(transport, read, has_left(written), input_ended);
    let connected = tokio::select! {
        connected = serve_server_with_ct(server, transport, connection.clone()) => connected,
        () = &mut told_to_end => return Ok(()),
    };
    let connected = match connected {
        Ok(connected) => connected,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(ServeError::NoBeginning);
        }
        Err(error) => return Err(ServeError::Beginning(error.into())),
    };
    let disconnected = connected.waiting();
    tokio::pin!(disconnected);
    let ended = tokio::select! {
        ended = &mut disconnected => Some(ended),
        () = told_to_end => None,
    };
    calls.all_over().await;
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.cancel();
        match timeout(PATIENCE, disconnected).await {
            Ok(ended) => ended,
            // A client that does not read cannot keep us from ending.
            Err(_) => return Ok(()),
        }
    };
    ended.map(drop).map_err(ServeError::Connection)
}
