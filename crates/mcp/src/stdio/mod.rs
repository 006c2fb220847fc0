//! The client at stdin and stdout: one message a line, each way.
//!
//! The library has such a transport too. Ours answers the lines that it cannot take (lines that are
//! too long, batches, requests that do not fit), takes a limited number of requests at once, and
//! lets go of a client that does not read.

mod hang_up;
mod id_in_line;
mod lines;
mod reading;
mod refusal;
mod room;
mod writing;

use std::io;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::io::stdio_pipes;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::reading::Reading;
use self::room::Room;
use self::writing::Outgoing;

/// A connection over stdin and stdout.
pub(crate) struct Stdio {
    incoming: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    outgoing: Outgoing,
    room: Room,
    tasks: Vec<JoinHandle<()>>,
}

impl Stdio {
    /// Begins to read. `ended` is cancelled as soon as nothing more can come: the library reports
    /// it only after it has waited for the calls under way.
    pub(crate) fn open(ended: CancellationToken) -> Self {
        let (reader, writer) = stdio_pipes();
        let room = Room::default();
        let (outgoing, written) = Outgoing::to(writer);
        let (delivered, incoming) = mpsc::channel(1);
        let reading = Reading {
            delivered,
            outgoing: outgoing.clone(),
            room: room.clone(),
            ended: ended.clone(),
        };
        let reading = tokio::spawn(reading.read(reader));
        let writing = tokio::spawn(written.write());
        let stuck = hang_up::watch(
            outgoing.clone(),
            [reading.abort_handle(), writing.abort_handle()],
            ended,
        );
        Self {
            incoming,
            outgoing,
            room,
            tasks: vec![reading, writing, tokio::spawn(stuck)],
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (outgoing, room) = (self.outgoing.clone(), self.room.clone());
        async move {
            let answered = answered_request(&message).cloned();
            let line = serde_json::to_vec(&message);
            drop(message);
            let sent = match line {
                Ok(line) => outgoing.send(line).await,
                Err(error) => Err(error.into()),
            };
            if let Some(id) = answered {
                room.leave(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await
    }

    /// Ends the tasks that read and write. The library has already waited for the lines that were
    /// being sent.
    async fn close(&mut self) -> io::Result<()> {
        self.tasks.iter().for_each(JoinHandle::abort);
        Ok(())
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Returns the id of the request that this message answers, if it is an answer.
fn answered_request(message: &TxJsonRpcMessage<RoleServer>) -> Option<&rmcp::model::RequestId> {
    match message {
        TxJsonRpcMessage::<RoleServer>::Response(answer) => Some(&answer.id),
        TxJsonRpcMessage::<RoleServer>::Error(error) => error.id.as_ref(),
        TxJsonRpcMessage::<RoleServer>::Request(_)
        | TxJsonRpcMessage::<RoleServer>::Notification(_) => None,
    }
}

/// Formats an error as a line. It can carry any id, also an id that the library does not know.
fn error_line(id: &Value, code: i32, message: &str) -> Vec<u8> {
    let error = serde_json::json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {"code": code, "message": message},
    });
    error.to_string().into_bytes()
}
