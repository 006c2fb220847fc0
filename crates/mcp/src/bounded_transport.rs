//! A transport that takes a limited number of requests at once. The protocol's own transport reads
//! on for as long as the client writes, so that a client which reads no answers would fill the
//! memory.

use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::room::{NoRoom, Room};
use crate::watched_pipes::ByteCount;

/// The time for which reading waits for room. Answers to short requests make room at once. If all
/// requests are long ones, their client must still be able to cancel them.
const WAIT: Duration = Duration::from_secs(1);

type Message = RxJsonRpcMessage<RoleServer>;

/// Something that is waited for beside other work.
type Pending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A transport with room for so many requests.
pub(crate) struct BoundedTransport<T> {
    incoming: Incoming<T>,
    /// Ends when the client has hung up and reads nothing.
    left: Pending,
    has_left: bool,
    /// Is cancelled when the client has hung up.
    ended: CancellationToken,
}

/// The messages of a client, as far as there is room.
struct Incoming<T> {
    transport: T,
    room: Room,
    /// The bytes that were read and belong to no message yet.
    read: ByteCount,
    blocked: Option<Blocked>,
}

/// The reason why nothing is read.
enum Blocked {
    /// A request has no room.
    Request(Box<HeldRequest>),
    /// The client has not read yet that a request had no room.
    Refusal(Pending),
}

/// A request that was read and has no room.
struct HeldRequest {
    message: Message,
    id: RequestId,
    bytes: usize,
    /// The time at which it is refused.
    refused_at: Instant,
}

impl<T> BoundedTransport<T> {
    /// Puts a bound on a transport whose reader counts its bytes in `read`. When `left` ends, the
    /// connection is over.
    pub(crate) fn new(
        transport: T,
        read: ByteCount,
        left: impl Future<Output = ()> + Send + 'static,
        ended: CancellationToken,
    ) -> Self {
        Self {
            incoming: Incoming {
                transport,
                room: Room::new(),
                read,
                blocked: None,
            },
            left: Box::pin(left),
            has_left: false,
            ended,
        }
    }
}

impl<T: Transport<RoleServer>> Incoming<T> {
    /// Returns the next message for which there is room. Nothing is lost if this is dropped before
    /// its end.
    async fn next(&mut self) -> Option<Message> {
        loop {
            match &mut self.blocked {
                None => {
                    let message = self.transport.receive().await?;
                    let bytes = self.read.take();
                    if let Some(message) = self.admit(message, bytes) {
                        return Some(message);
                    }
                }
                Some(Blocked::Refusal(written)) => {
                    written.await;
                    self.blocked = None;
                }
                Some(Blocked::Request(held)) => {
                    let has_room = tokio::select! {
                        () = self.room.wait_for(held.bytes) => true,
                        () = sleep_until(held.refused_at) => false,
                    };
                    let Some(Blocked::Request(held)) = self.blocked.take() else {
                        continue;
                    };
                    if has_room {
                        if let Some(message) = self.admit(held.message, held.bytes) {
                            return Some(message);
                        }
                    } else {
                        self.refuse(held.id, NoRoom::Full);
                    }
                }
            }
        }
    }

    /// Returns a message, unless it is a request without room.
    fn admit(&mut self, message: Message, bytes: usize) -> Option<Message> {
        let id = match &message {
            JsonRpcMessage::Request(request) => request.id.clone(),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer.
                    self.room.leave(id);
                }
                return Some(message);
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Some(message),
        };
        match self.room.take(&id, bytes) {
            Ok(()) => return Some(message),
            Err(NoRoom::Full) => {
                self.blocked = Some(Blocked::Request(Box::new(HeldRequest {
                    message,
                    id,
                    bytes,
                    refused_at: Instant::now() + WAIT,
                })));
            }
            Err(NoRoom::Taken) => self.refuse(id, NoRoom::Taken),
        }
        None
    }

    /// Answers that a request has no room. Nothing is read until the answer is written.
    fn refuse(&mut self, id: RequestId, no_room: NoRoom) {
        let error = ErrorData::invalid_request(no_room.message(), None);
        let sent = self.transport.send(JsonRpcMessage::error(error, Some(id)));
        let written = async move {
            // A client whose pipe is broken sends nothing more either.
            _ = sent.await;
        };
        self.blocked = Some(Blocked::Refusal(Box::pin(written)));
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for BoundedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = answered_request(&message).cloned();
        let sent = self.incoming.transport.send(message);
        let room = self.incoming.room.clone();
        async move {
            let sent = sent.await;
            if let Some(id) = answered {
                room.leave(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        if self.has_left {
            return None;
        }
        tokio::select! {
            message = self.incoming.next() => message,
            () = &mut self.left => {
                self.has_left = true;
                self.ended.cancel();
                None
            }
        }
    }

    /// Closes the connection. What a client does not read is not waited for once it has hung up.
    async fn close(&mut self) -> Result<(), Self::Error> {
        if self.has_left {
            return Ok(());
        }
        tokio::select! {
            closed = self.incoming.transport.close() => closed,
            () = &mut self.left => Ok(()),
        }
    }
}

/// Returns the id of the request that this message answers, if it is an answer.
fn answered_request(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(answer) => Some(&answer.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use rmcp::transport::async_rw::AsyncRwTransport;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};

    use super::*;
    use crate::room::MOST_REQUESTS;

    fn ping(id: u32) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
    }

    #[tokio::test(start_paused = true)]
    async fn requests_without_room_wait_and_are_then_refused() {
        let (mut client, server) = duplex(1024 * 1024);
        let (reader, writer) = tokio::io::split(server);
        let transport = AsyncRwTransport::new_server(reader, writer);
        let ended = CancellationToken::new();
        let mut transport =
            BoundedTransport::new(transport, ByteCount::default(), pending(), ended);
        let cancelled =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let flood: String = (0..MOST_REQUESTS + 2).map(ping).collect();
        client.write_all(flood.as_bytes()).await.unwrap();
        client
            .write_all(format!("{cancelled}\n").as_bytes())
            .await
            .unwrap();
        client.write_all(ping(2000).as_bytes()).await.unwrap();
        for id in 0..MOST_REQUESTS {
            let message = transport.receive().await;
            let Some(JsonRpcMessage::Request(request)) = message else {
                panic!("no request {id}");
            };
            assert_eq!(request.id, RequestId::Number(i64::from(id)));
        }
        // Two requests find no room, and the cancellation behind them makes room for the last.
        let message = transport.receive().await;
        assert!(matches!(message, Some(JsonRpcMessage::Notification(_))));
        let message = transport.receive().await;
        assert!(
            matches!(message, Some(JsonRpcMessage::Request(request)) if request.id == RequestId::Number(2000))
        );
        let mut lines = BufReader::new(client).lines();
        for id in [MOST_REQUESTS, MOST_REQUESTS + 1] {
            let line = lines.next_line().await.unwrap().unwrap();
            let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(answer["id"], id);
            let message = answer["error"]["message"].as_str().unwrap();
            assert_eq!(message, NoRoom::Full.message());
        }
    }
}
