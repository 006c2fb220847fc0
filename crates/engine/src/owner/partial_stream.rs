//! The messages that a model is still writing, from the owner of its run to a reader in another
//! process: only the new part, and not more often than an eye can follow.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_vocabulary::PartialMessage;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::sleep;

use super::client::{AskError, next_line, send};
use super::wire::{OwnerRequest, PartialUpdate, Want};
use crate::partial_feed::{Extent, PartialReader};
use crate::partial_pace::GLANCE;

/// The shortest time between two updates for somebody who reads along.
const READING: Duration = Duration::from_millis(40);

/// Sends updates until the run is over or the reader in the other process has left.
pub(super) async fn send_partial_messages(
    mut messages: PartialReader,
    extent: Extent,
    mut reader: impl AsyncRead + Unpin,
    writer: &mut (impl AsyncWrite + Unpin),
) {
    let mut left = [0];
    let mut sent = PartialMessage::default();
    let pause = match extent {
        Extent::Whole => READING,
        Extent::Newest => GLANCE,
    };
    messages.begin_now();
    loop {
        let message = tokio::select! {
            changed = messages.changed() => match changed {
                Some(message) => message,
                None => return,
            },
            // A reader sends nothing; when there is something to read from it, it is gone.
            _ = reader.read(&mut left) => return,
        };
        let mut line = serde_json::to_string(&update(&sent, &message)).unwrap_or_default();
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        sent = message;
        sleep(pause).await;
    }
}

/// Returns the update that turns `sent` into `message` at the reader.
fn update(sent: &PartialMessage, message: &PartialMessage) -> PartialUpdate {
    let is_more = sent.number == message.number && message.text.starts_with(&sent.text);
    let kept = if is_more { sent.text.len() } else { 0 };
    PartialUpdate {
        number: message.number,
        kept,
        text: message.text[kept..].to_owned(),
        activity: message.activity.clone().into(),
    }
}

/// Reads the messages that the model of another owner's run is writing.
#[derive(Debug)]
pub struct PartialStream {
    path: PathBuf,
    stream: BufReader<UnixStream>,
    text: String,
}

impl PartialStream {
    /// Asks the owner that listens at `path` for the partial messages of a run.
    pub async fn begin(path: &Path, run: &str, extent: Extent) -> Result<Self, AskError> {
        let request = OwnerRequest {
            run: run.to_owned(),
            want: Want::PartialMessages { extent },
        };
        Ok(Self {
            stream: send(path, &request).await?,
            path: path.to_owned(),
            text: String::new(),
        })
    }

    /// Waits for the next state of the message; `None` when no more will come.
    pub async fn next(&mut self) -> Option<PartialMessage> {
        // Any other line is the reply: the run is over, or did not belong to this owner.
        let update: PartialUpdate = next_line(&self.path, &mut self.stream).await.ok()?;
        let kept = self.text.floor_char_boundary(update.kept);
        self.text.truncate(kept);
        self.text.push_str(&update.text);
        Some(PartialMessage {
            number: update.number,
            text: self.text.clone(),
            activity: update.activity.into(),
        })
    }
}
