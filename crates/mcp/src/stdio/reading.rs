//! Reads the input of a client: messages are delivered, and lines that are no message are answered
//! with an error.

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::error_line;
use super::lines::{LONGEST, Line, Lines};
use super::refusal;
use super::room::Room;
use super::writing::Outgoing;

/// Some programs write it before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

type Message = RxJsonRpcMessage<RoleServer>;

/// The channels that reading needs.
pub(super) struct Reading {
    /// Takes the messages, one at a time.
    pub(super) delivered: mpsc::Sender<Message>,
    pub(super) outgoing: Outgoing,
    pub(super) room: Room,
    /// Is cancelled when nothing more can come.
    pub(super) ended: CancellationToken,
}

impl Reading {
    /// Reads until nothing more comes. Reading waits until its own answers are taken, so a client
    /// that does not read is not read either.
    pub(super) async fn read(self, reader: impl AsyncRead + Unpin) {
        let mut lines = Lines::new(BufReader::new(reader));
        // A stdin that cannot be read has ended.
        while let Ok(Some(line)) = lines.next().await {
            let is_heard = match line {
                Line::Whole(line) => self.hear(&line).await,
                Line::TooLong(id) => self.pass_over(id).await,
            };
            if !is_heard {
                break;
            }
        }
        self.ended.cancel();
    }

    /// Returns whether anybody listens.
    async fn hear(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if let Ok(message) = serde_json::from_slice::<Message>(line) {
            return self.deliver(message, line.len()).await;
        }
        for answer in refusal::answers(line) {
            if self.outgoing.send(answer).await.is_err() {
                return false;
            }
        }
        true
    }

    async fn deliver(&self, message: Message, bytes: usize) -> bool {
        match &message {
            JsonRpcMessage::Request(request) => {
                debug!(id = %request.id, method = request.request.method(), bytes, "client asks");
                if let Err(no_room) = self.room.take(&request.id, bytes).await {
                    let id = request.id.clone().into_json_value();
                    let code = ErrorCode::INVALID_REQUEST.0;
                    let line = error_line(&id, code, &no_room.message());
                    return self.outgoing.send(line).await.is_ok();
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer.
                    self.room.leave(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        self.delivered.send(message).await.is_ok()
    }

    async fn pass_over(&self, id: Option<Value>) -> bool {
        let Some(id) = id else {
            return true;
        };
        let message = format!(
            "The message is longer than {} MB and was not read.",
            LONGEST / 1024 / 1024
        );
        let line = error_line(&id, ErrorCode::INVALID_REQUEST.0, &message);
        self.outgoing.send(line).await.is_ok()
    }
}
