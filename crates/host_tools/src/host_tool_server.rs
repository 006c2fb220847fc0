//! The server of a program's tools.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::host_tools::HostTools;
use crate::http_request::{Gone, HttpRequest, RequestError, RequestReader};
use crate::protocol::{Reply, answer};

/// The number of connections at once.
const MOST_CONNECTIONS: usize = 128;

/// The path of the server.
const PATH: &str = "/mcp";

/// The functions of a program while they are served. Dropping it ends the server and all calls.
pub struct HostToolServer {
    name: String,
    address: SocketAddr,
    token: String,
    accepting: JoinHandle<()>,
}

/// What every connection needs.
struct Service {
    tools: HostTools,
    token: String,
}

impl HostToolServer {
    pub(crate) async fn start(tools: HostTools) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (name, token) = (tools.name.clone(), random_word()?);
        let service = Service {
            tools,
            token: token.clone(),
        };
        Ok(Self {
            name,
            address: listener.local_addr()?,
            token,
            accepting: tokio::spawn(accept(listener, Arc::new(service))),
        })
    }

    /// Returns the name of the server, which is a part of the names of its tools.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the name of the variable that must hold the token where sub-agents are started.
    pub fn variable(&self) -> String {
        let name = self.name.to_uppercase().replace('-', "_");
        format!("PI_SUBAGENTS_HOST_{name}")
    }

    /// Returns the token. Whoever has it can call the functions.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns the server as agent files write one. It names the token by its variable.
    pub fn entry(&self) -> Value {
        json!({
            "url": format!("http://{}{PATH}", self.address),
            "headers": {"Authorization": format!("Bearer ${{{}}}", self.variable())},
            "required": true,
        })
    }
}

impl Drop for HostToolServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl fmt::Debug for HostToolServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("HostToolServer");
        shown
            .field("name", &self.name)
            .field("address", &self.address);
        shown.finish_non_exhaustive()
    }
}

/// Accepts connections. When it is dropped, those that are open are dropped too.
async fn accept(listener: TcpListener, service: Arc<Service>) {
    let mut open = tokio::task::JoinSet::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        // A connection that is gone before it is accepted is none.
        if let Ok((stream, _)) = listener.accept().await {
            let service = Arc::clone(&service);
            open.spawn(async move {
                // Whoever is gone gets no answer.
                _ = service.converse(stream).await;
                drop(place);
            });
        }
        while open.try_join_next().is_some() {}
    }
}

impl Service {
    /// Answers the requests of one connection.
    async fn converse(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = RequestReader::new(stream);
        loop {
            let request = match reader.next(&self.token).await {
                Ok(Some(request)) => request,
                Ok(None) => return Ok(()),
                Err(RequestError::Gone(error)) => return Err(error),
                Err(RequestError::Refused(status)) => {
                    return write(reader.stream(), status, None).await;
                }
            };
            let (status, body) = tokio::select! {
                reply = self.reply(&request) => reply,
                // The run that called has ended; dropping the call stops it.
                Gone = reader.gone() => return Ok(()),
            };
            write(reader.stream(), status, body).await?;
        }
    }

    async fn reply(&self, request: &HttpRequest) -> (&'static str, Option<Value>) {
        if request.path != PATH {
            return ("404 Not Found", None);
        }
        match request.method.as_str() {
            "POST" => match answer(&self.tools, &request.body).await {
                Reply::Message(message) => ("200 OK", Some(message)),
                Reply::Nothing => ("202 Accepted", None),
            },
            // There is no session to end.
            "DELETE" => ("200 OK", None),
            _ => ("405 Method Not Allowed", None),
        }
    }
}

async fn write(stream: &mut TcpStream, status: &str, body: Option<Value>) -> io::Result<()> {
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let kind = if body.is_empty() {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\n{kind}Content-Length: {length}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await
}

/// Makes a word that nobody guesses.
#[expect(
    clippy::disallowed_methods,
    reason = "the device is of the kernel, and the crate for files weighs more than this one"
)]
fn random_word() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut word, byte| {
        // Writing to a text cannot fail.
        _ = write!(word, "{byte:02x}");
        word
    }))
}
