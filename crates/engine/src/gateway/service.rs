//! Serves the gateway of one child.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pi_subagents_vocabulary::NetworkHost;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::debug;

use super::request_head::{ReadHead, RequestHead, read};
use super::rules::{GatewayRules, Way};

/// A longer head no program sends.
const LONGEST_HEAD: usize = 64 << 10;
/// The time that a program may take to say what it wants.
const TO_ASK: Duration = Duration::from_secs(30);
/// The time that a host may take to answer at all.
const TO_CONNECT: Duration = Duration::from_secs(20);
/// The number of connections that are served at once.
const MOST_CONNECTIONS: usize = 256;
/// The number of hosts that are counted by name.
const MOST_COUNTED: usize = 50;

/// The hosts that were asked for in vain, with how often.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<BTreeMap<String, u32>>>);

impl Refusals {
    fn add(&self, host: &NetworkHost) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = host.to_string();
        if counts.len() < MOST_COUNTED || counts.contains_key(&name) {
            let count = counts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the sentence about them; `None` if nothing was refused.
    pub(crate) fn sentence(&self) -> Option<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.is_empty() {
            return None;
        }
        let hosts = counts.iter().map(|(host, count)| match count {
            1 => host.clone(),
            count => format!("{host} ({count} times)"),
        });
        let hosts: Vec<String> = hosts.collect();
        Some(format!("The sandbox refused: {}.", hosts.join(", ")))
    }
}

/// The gateway of one child.
pub(crate) struct Gateway {
    pub(crate) listener: TcpListener,
    pub(crate) rules: GatewayRules,
    pub(crate) refusals: Refusals,
}

impl Gateway {
    /// Serves until the process ends.
    pub(crate) async fn serve(self) {
        let Self {
            listener,
            rules,
            refusals,
        } = self;
        let rules = Arc::new(rules);
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let Ok(place) = room.clone().acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = listener.accept().await else {
                // The network of the child is gone, or there is no room for a descriptor.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let (rules, refusals) = (rules.clone(), refusals.clone());
            tokio::spawn(async move {
                if let Err(error) = pass(stream, &rules, &refusals).await {
                    debug!(%error, "a connection through the gateway ended");
                }
                drop(place);
            });
        }
    }
}

/// The answers of the gateway itself.
enum Answer {
    Unauthorized,
    Refused,
    Bad,
    Unreachable,
}

impl Answer {
    fn line(&self) -> &'static str {
        match self {
            Self::Unauthorized => "407 Proxy Authentication Required",
            Self::Refused => "403 Refused by the sandbox",
            Self::Bad => "400 Bad Request",
            Self::Unreachable => "502 Bad Gateway",
        }
    }
}

async fn pass(mut stream: TcpStream, rules: &GatewayRules, refusals: &Refusals) -> io::Result<()> {
    let mut bytes = Vec::new();
    let read = timeout(TO_ASK, read_head(&mut stream, &mut bytes)).await;
    let Some(head) = read.map_err(|_| io::ErrorKind::TimedOut)?? else {
        return answer(&mut stream, &Answer::Bad).await;
    };
    if !rules.is_authorized(head.authorization.as_deref()) {
        return answer(&mut stream, &Answer::Unauthorized).await;
    }
    let Some(way) = rules.way_to(&head.target) else {
        refusals.add(&head.target);
        return answer(&mut stream, &Answer::Refused).await;
    };
    match connect(&head.target, way).await {
        Ok(Some(host)) => exchange(stream, host, &head, &bytes).await,
        Ok(None) => {
            refusals.add(&head.target);
            answer(&mut stream, &Answer::Refused).await
        }
        Err(_) => answer(&mut stream, &Answer::Unreachable).await,
    }
}

/// Reads until the head is whole; `None` if it is not a request to a proxy.
async fn read_head(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<RequestHead>> {
    loop {
        match read(bytes) {
            ReadHead::Whole(head) => return Ok(Some(head)),
            ReadHead::Bad => return Ok(None),
            ReadHead::Partial if bytes.len() > LONGEST_HEAD => return Ok(None),
            ReadHead::Partial => {}
        }
        if stream.read_buf(bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Connects to a host, whose name is resolved here; `None` if the way does not lead to any of its
/// addresses.
async fn connect(target: &NetworkHost, way: Way) -> io::Result<Option<TcpStream>> {
    let found = timeout(TO_CONNECT, lookup_host((target.host(), target.port()))).await;
    let addresses: Vec<SocketAddr> = found.map_err(|_| io::ErrorKind::TimedOut)??.collect();
    let open = addresses
        .iter()
        .filter(|address| way.leads_to(address.ip()));
    let open: Vec<SocketAddr> = open.copied().collect();
    if open.is_empty() && !addresses.is_empty() {
        return Ok(None);
    }
    let connected = timeout(TO_CONNECT, TcpStream::connect(open.as_slice())).await;
    Ok(Some(connected.map_err(|_| io::ErrorKind::TimedOut)??))
}

async fn exchange(
    mut stream: TcpStream,
    mut host: TcpStream,
    head: &RequestHead,
    bytes: &[u8],
) -> io::Result<()> {
    match &head.forwarded {
        None => stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?,
        Some(forwarded) => host.write_all(forwarded).await?,
    }
    host.write_all(bytes.get(head.length..).unwrap_or_default())
        .await?;
    copy_bidirectional(&mut stream, &mut host).await?;
    Ok(())
}

async fn answer(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    let line = answer.line();
    let text = format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}
