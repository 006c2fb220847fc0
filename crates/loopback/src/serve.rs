//! Accepts connections and serves each in a task of its own.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connection::{Connection, HeadTimer};
use crate::strangers::Strangers;

/// What connections without the token may take.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// The time for the head of a request.
    head: Duration,
    /// The number of such connections. A browser opens six to load the page.
    strangers: usize,
}

const USUAL: Bounds = Bounds {
    head: Duration::from_secs(5),
    strangers: 128,
};

/// The number of bytes of a request's head.
const LONGEST_HEAD: usize = 64 << 10;

/// Serves requests until `ended` changes or its sender is gone, and then until those that were begun
/// are answered. Each request has its [`Connection`] in its extensions: whoever finds the token in
/// it admits the connection. Dropping the future closes all connections.
pub async fn serve<L: Listener>(listener: L, router: Router, ended: watch::Receiver<()>) {
    serve_within(USUAL, listener, router, ended).await;
}

async fn serve_within<L: Listener>(
    bounds: Bounds,
    mut listener: L,
    router: Router,
    mut ended: watch::Receiver<()>,
) {
    let strangers = Strangers::default();
    let mut tasks = JoinSet::new();
    for number in 0.. {
        let (io, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.changed() => break,
        };
        let connection = Connection::new(number, strangers.clone());
        let served = serve_one(
            io,
            bounds.head,
            router.clone(),
            connection.clone(),
            ended.clone(),
        );
        let task = tasks.spawn(served);
        strangers.add(&connection, task, bounds.strangers);
        // Those that have ended are let go.
        while tasks.try_join_next().is_some() {}
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

async fn serve_one<I>(
    io: I,
    head: Duration,
    router: Router,
    connection: Connection,
    mut ended: watch::Receiver<()>,
) where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let _forgotten = ForgetAtEnd(connection.clone());
    let own = connection.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(own.clone());
        TowerToHyperService::new(router.clone()).call(request)
    });
    let serving = http1::Builder::new()
        .timer(HeadTimer(connection))
        .header_read_timeout(head)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(io), service);
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        // A connection that fails is the affair of its client.
        _ = serving.as_mut() => return,
        _ = ended.changed() => serving.as_mut().graceful_shutdown(),
    }
    _ = serving.await;
}

/// Takes a connection off the list of strangers when its task ends, also when it is aborted.
struct ForgetAtEnd(Connection);

impl Drop for ForgetAtEnd {
    fn drop(&mut self) {
        self.0.forget();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use axum::Extension;
    use axum::http::HeaderMap;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::token::bearer;

    /// Serves a page that everybody may read, and admits whoever has the token `t`.
    async fn start(bounds: Bounds) -> (u16, watch::Sender<()>) {
        let page = |Extension(connection): Extension<Connection>, headers: HeaderMap| async move {
            if bearer(&headers) == Some("t") {
                connection.admit();
                return "admitted";
            }
            "a stranger"
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (end, ended) = watch::channel(());
        let router = Router::new().route("/", get(page));
        tokio::spawn(serve_within(bounds, listener, router, ended));
        (port, end)
    }

    /// Sends a request, and returns what was answered; empty if the connection was closed.
    async fn ask(stream: &mut TcpStream, token: &str) -> String {
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
        if stream.write_all(request.as_bytes()).await.is_err() {
            return String::new();
        }
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).await.unwrap_or(0);
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        answer
            .split("\r\n\r\n")
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    }

    #[tokio::test]
    async fn the_oldest_stranger_gives_way_and_one_with_the_token_never_does() {
        let (port, _end) = start(USUAL).await;
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        let mut known = connect().await.unwrap();
        assert_eq!(ask(&mut known, "t").await, "admitted");
        let mut oldest = connect().await.unwrap();
        assert_eq!(ask(&mut oldest, "wrong").await, "a stranger");
        let mut silent = Vec::new();
        for _ in 0..USUAL.strangers + 5 {
            silent.push(connect().await.unwrap());
        }
        // Whoever comes last is answered, so all before it were accepted.
        assert_eq!(ask(&mut connect().await.unwrap(), "t").await, "admitted");
        assert_eq!(ask(&mut oldest, "wrong").await, "");
        assert_eq!(ask(&mut known, "t").await, "admitted");
        let mut newest = silent.pop().unwrap();
        assert_eq!(ask(&mut newest, "wrong").await, "a stranger");
    }

    #[tokio::test]
    async fn a_stranger_that_sends_half_a_head_is_left_and_one_with_the_token_may_wait() {
        let head = Duration::from_millis(50);
        let (port, _end) = start(Bounds { head, ..USUAL }).await;
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        let mut known = connect().await.unwrap();
        assert_eq!(ask(&mut known, "t").await, "admitted");
        let mut slow = connect().await.unwrap();
        slow.write_all(b"GET / HT").await.unwrap();
        let mut rest = Vec::new();
        // It ends only because the server closes it.
        _ = slow.read_to_end(&mut rest).await;
        assert_eq!(ask(&mut known, "t").await, "admitted");
    }

    #[tokio::test]
    async fn the_end_waits_for_answers_and_not_for_silent_clients() {
        let (port, end) = start(USUAL).await;
        let mut idle = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
            .await
            .unwrap();
        assert_eq!(ask(&mut idle, "t").await, "admitted");
        drop(end);
        let mut rest = Vec::new();
        assert_eq!(idle.read_to_end(&mut rest).await.unwrap_or(0), 0);
    }
}
