//! The connection to a fleet. It comes back by itself when it is lost; requests fail meanwhile, in
//! bounded time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::address::Address;
use crate::error::FleetError;
use crate::keys::Key;
use crate::missed_callers::MissedCallers;
use crate::names::Names;
use crate::refusals::Refusals;

/// The longest time to reach one server.
const ONE_SERVER: Duration = Duration::from_secs(4);

/// The longest time to reach any server.
const ANY_SERVER: Duration = Duration::from_secs(10);

/// The pause between two pings to the server. Two pings without an answer end a connection.
const PING: Duration = Duration::from_secs(5);

/// The longest time between two tries to come back.
const SLOWEST_RETURN: Duration = Duration::from_secs(4);

/// The pause between two looks at a lost connection by a request that needs it.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The longest time that an answer is waited for.
pub(crate) const ANSWER: Duration = Duration::from_secs(5);

/// A fleet that we are connected to. Copies share the connection.
#[derive(Clone)]
pub struct Fleet {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) client: Client,
    pub(crate) names: Names,
    pub(crate) streams: Context,
    pub(crate) key: Option<Key>,
    pub(crate) refusals: watch::Receiver<Refusals>,
    /// Our name.
    pub(crate) name: String,
    connections: watch::Receiver<Connections>,
    pub(crate) missed_callers: MissedCallers,
}

/// The connections that were made so far.
#[derive(Debug, Clone, Copy, Default)]
struct Connections {
    count: u64,
    /// The time of the last one.
    at: Option<Instant>,
}

impl Fleet {
    /// Connects to a fleet, in bounded time.
    pub async fn connect(address: &Address) -> Result<Self, FleetError> {
        let names = Names::new(&address.prefix)?;
        let (servers, is_encrypted) = address.checked()?;
        let key = address.nkey.as_ref().map(Key::of_seed).transpose()?;
        let inbox = Names::inbox(&address.name);
        let (refused, refusals) = watch::channel(Refusals::of(&inbox));
        let (counted, connections) = watch::channel(Connections::default());
        let mut options = ConnectOptions::new()
            .name(&address.name)
            .custom_inbox_prefix(inbox)
            .connection_timeout(ONE_SERVER)
            .request_timeout(Some(ANSWER))
            .ping_interval(PING)
            .require_tls(is_encrypted)
            // Another server must be named by the user; the word of a server does not count.
            .ignore_discovered_servers()
            .reconnect_delay_callback(return_delay)
            .event_callback(move |event| {
                note(&event, &refused, &counted);
                std::future::ready(())
            });
        if let Some(key) = &key {
            options = options.nkey(key.seed()?);
        }
        if let Some(authority) = &address.authority {
            check_authority(authority)?;
            options = options.add_root_certificates(authority.clone());
        }
        let connected = timeout(ANY_SERVER, options.connect(servers)).await;
        let client = connected
            .map_err(|_| {
                unreachable(
                    address,
                    &format!("no answer within {} s", ANY_SERVER.as_secs()),
                )
            })?
            .map_err(|error| refused_connection(address, &error))?;
        check_server(&client)?;
        let mut streams = jetstream::new(client.clone());
        streams.set_timeout(ANSWER);
        let inner = Inner {
            client,
            names,
            streams,
            key,
            refusals,
            name: address.name.clone(),
            connections,
            missed_callers: MissedCallers::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns the names of this fleet.
    pub fn names(&self) -> &Names {
        &self.inner.names
    }

    /// Returns our key, if we have one.
    pub fn key(&self) -> Option<&Key> {
        self.inner.key.as_ref()
    }

    /// Returns the number of connections so far, which changes with each return to a server.
    pub(crate) fn connections(&self) -> u64 {
        self.inner.connections.borrow().count
    }

    /// Waits until the connection has come back once more.
    pub(crate) async fn returned(&self) {
        let mut connections = self.inner.connections.clone();
        connections.mark_unchanged();
        if connections.changed().await.is_err() {
            // The connection is closed for good.
            std::future::pending::<()>().await;
        }
    }

    /// Returns for how long this connection has lasted without a break.
    pub fn connected_for(&self) -> Duration {
        let at = self.inner.connections.borrow().at;
        at.filter(|_| self.is_connected())
            .map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Returns whether we are connected to a server at this moment.
    pub fn is_connected(&self) -> bool {
        self.inner.client.connection_state() == State::Connected
    }

    /// Returns the number of the present connection. It has changed before anything is sent over a
    /// new one.
    pub(crate) fn connection_number(&self) -> u64 {
        let statistics = self.inner.client.statistics();
        statistics.connects.load(Ordering::SeqCst)
    }

    /// Returns the name and the version of the server that we are connected to.
    pub fn server(&self) -> (String, String) {
        let server = self.inner.client.server_info();
        (server.server_name, server.version)
    }

    /// Waits for the connection if it is lost, and returns the time that is left. A request without
    /// a connection would be kept by the client library and sent much later: a run that it asks for
    /// would then come to nobody, and a run that it gives back may belong to another worker.
    pub(crate) async fn when_connected(&self, within: Duration) -> Option<Duration> {
        let begun = Instant::now();
        while !self.is_connected() {
            if begun.elapsed() >= within {
                return None;
            }
            sleep(LOOK_AGAIN).await;
        }
        Some(within.saturating_sub(begun.elapsed()))
    }

    /// Sends the remaining messages, and closes the connection.
    pub async fn close(&self) {
        let flushed = timeout(ANSWER, self.inner.client.flush()).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::debug!("the connection to the fleet was closed before all was sent");
        }
        // It fails only if the connection is closed already.
        let _ = self.inner.client.drain().await;
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, version) = self.server();
        write!(formatter, "Fleet({server} {version})")
    }
}

/// Returns how long the connection waits before a try; the first has the number 1. The client
/// library asks before the very first connection too, so that one must not wait.
fn return_delay(tries: usize) -> Duration {
    let Some(failed) = tries.checked_sub(2) else {
        return Duration::ZERO;
    };
    let doubled = 100_u64.saturating_mul(1 << failed.min(10));
    Duration::from_millis(doubled).min(SLOWEST_RETURN)
}

fn note(event: &Event, refused: &watch::Sender<Refusals>, counted: &watch::Sender<Connections>) {
    match event {
        Event::Connected => {
            // The server's file may have another entry for our key now.
            refused.send_modify(|refusals| refusals.is_deaf = false);
            counted.send_modify(|connections| {
                connections.at = Some(Instant::now());
                connections.count += 1;
            });
        }
        Event::ServerError(ServerError::Other(said)) => {
            refused.send_modify(|refusals| refusals.note(said.clone()));
        }
        other => tracing::debug!("fleet: {other}"),
    }
}

fn check_authority(file: &std::path::Path) -> Result<(), FleetError> {
    const LARGEST: u64 = 1024 * 1024;
    let bad = |why: String| FleetError::BadAuthority {
        file: file.display().to_string(),
        why,
    };
    let text =
        pi_subagents_files::read_own_text(file, LARGEST).map_err(|error| bad(error.to_string()))?;
    if text.contains("-----BEGIN CERTIFICATE-----") {
        return Ok(());
    }
    Err(bad("it holds no certificate in PEM form".to_owned()))
}

fn unreachable(address: &Address, why: &str) -> FleetError {
    FleetError::Unreachable {
        servers: address.servers.join(", "),
        why: why.to_owned(),
    }
}

fn refused_connection(address: &Address, error: &async_nats::ConnectError) -> FleetError {
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => FleetError::NotLetIn {
            server: address.servers.join(", "),
        },
        _ => unreachable(address, &error.to_string()),
    }
}

fn check_server(client: &Client) -> Result<(), FleetError> {
    let info = client.server_info();
    if !is_new_enough(&info.version) {
        return Err(FleetError::OldServer {
            server: info.server_name,
            version: info.version,
        });
    }
    if info.jetstream {
        return Ok(());
    }
    Err(FleetError::NoStreams {
        server: info.server_name,
    })
}

/// Returns whether a server knows prioritized pulls and keys that expire.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0_u32));
    let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    number >= (2, 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_from_2_12_on_are_new_enough() {
        let old = ["2.9.0", "2.11.8", "1.99", "", "two"].map(is_new_enough);
        let new = ["2.12.0", "2.15.1", "2.12.0-RC.1", "3.0.0"].map(is_new_enough);
        assert_eq!((old, new), ([false; 5], [true; 4]));
    }

    #[test]
    fn the_first_try_is_at_once_and_later_ones_are_slower_but_never_given_up() {
        let delays = [0, 1, 2, 3, 7, 8, 1000].map(return_delay);
        let milliseconds = delays.map(|delay| delay.as_millis());
        assert_eq!(milliseconds, [0, 0, 100, 200, 3200, 4000, 4000]);
    }
}
