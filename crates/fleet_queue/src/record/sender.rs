//! Sends the files of a run directory while somebody writes them. Sending begins again at the first
//! byte that was not confirmed.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{ContextBuilder, PublishAckFuture};
use bytes::Bytes;
use pi_subagents_files::Directory;
use pi_subagents_vocabulary::RunId;
use tokio::time::sleep;
use tracing::debug;

use super::files::record_lengths;
use crate::connect::Fleet;
use crate::wire::RecordHeaders;

/// The number of bytes that go into one message.
const CHUNK: usize = 128 << 10;

/// The number of messages that may be under way without a confirmation.
const WINDOW: usize = 8;

/// The time that the server may take to confirm a message.
const TO_CONFIRM: Duration = Duration::from_secs(5);

/// The pause before unconfirmed bytes are sent again, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The reason why the record of a run cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The directory or one of its files cannot be read.
    #[error("could not read {}", path.display())]
    Unreadable {
        /// The file or the directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The server does not take a message of ours, and would not take it again.
    #[error("the server refuses the record of the run: {0}")]
    Refused(String),
}

/// Sends the record of one delivery of a run. It holds a few chunks at most.
#[derive(Debug)]
pub struct RecordSender {
    fleet: Fleet,
    context: Context,
    subject: String,
    directory: PathBuf,
    files: BTreeMap<String, Sent>,
    /// The chunks that are not confirmed yet, oldest first.
    flight: VecDeque<Flight>,
}

/// The progress of sending a file.
#[derive(Debug, Default)]
struct Sent {
    /// The first byte that was not sent since the last go-back.
    next: u64,
    /// The first byte that is not confirmed.
    confirmed: u64,
}

#[derive(Debug)]
struct Flight {
    file: String,
    end: u64,
    confirmation: PublishAckFuture,
}

/// The fate of the oldest chunk.
enum Oldest {
    Confirmed,
    Unconfirmed,
}

impl RecordSender {
    /// Makes a sender for the files of this directory.
    pub fn new(fleet: &Fleet, run: &RunId, delivery: u64, directory: &Path) -> Self {
        // It has a context of its own: after a go-back, confirmations that nobody waits for any
        // more must not take the room of others.
        let context = ContextBuilder::new()
            .timeout(TO_CONFIRM)
            .build(fleet.inner.client.clone());
        Self {
            fleet: fleet.clone(),
            context,
            subject: fleet.names().record(run, delivery),
            directory: directory.to_owned(),
            files: BTreeMap::new(),
            flight: VecDeque::new(),
        }
    }

    /// Sends everything that the files hold, and returns when the server has confirmed it. While
    /// the server is away it goes on trying; a caller that has waited enough drops the future.
    pub async fn send_all(&mut self) -> Result<(), SendError> {
        let (fleet, named) = (self.fleet.clone(), format!("\"{}\"", self.subject));
        let sent = fleet.unless_refused(&named, self.send_until_confirmed());
        sent.await
            .unwrap_or_else(|refusal| Err(SendError::Refused(refusal.to_string())))
    }

    async fn send_until_confirmed(&mut self) -> Result<(), SendError> {
        let (mut pause, longest) = AGAIN;
        loop {
            let is_confirmed = self.send_new().await? && self.confirm_all().await?;
            if !is_confirmed {
                self.go_back();
                debug!(subject = self.subject, "record is sent again");
                sleep(pause).await;
                pause = (pause * 2).min(longest);
            } else if !self.has_news()? {
                return Ok(());
            }
        }
    }

    /// Returns how many bytes of each file are confirmed.
    pub fn sizes(&self) -> BTreeMap<String, u64> {
        let files = self.files.iter();
        files
            .map(|(name, sent)| (name.clone(), sent.confirmed))
            .collect()
    }

    /// Sends a file again from this byte on with the next [`RecordSender::send_all`], because a
    /// reader has lost it.
    pub fn resend(&mut self, file: &str, at: u64) {
        if let Some(sent) = self.files.get_mut(file) {
            sent.next = sent.next.min(at);
            sent.confirmed = sent.confirmed.min(at);
        }
    }

    /// Sends the new bytes of each file. Returns false if some bytes were not confirmed.
    async fn send_new(&mut self) -> Result<bool, SendError> {
        for (name, length) in self.lengths()? {
            let sent = self.files.entry(name.clone()).or_default();
            if sent.next >= length {
                continue;
            }
            let file = open(&self.directory, &name)?;
            while let Some(chunk) = self.next_chunk(&file, &name)? {
                if self.flight.len() >= WINDOW
                    && matches!(self.oldest().await?, Oldest::Unconfirmed)
                {
                    return Ok(false);
                }
                if !self.publish(&name, chunk).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    async fn confirm_all(&mut self) -> Result<bool, SendError> {
        while !self.flight.is_empty() {
            if matches!(self.oldest().await?, Oldest::Unconfirmed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits for the confirmation of the oldest chunk.
    async fn oldest(&mut self) -> Result<Oldest, SendError> {
        let Some(flight) = self.flight.pop_front() else {
            return Ok(Oldest::Confirmed);
        };
        match flight.confirmation.await {
            Ok(_) => {
                let sent = self.files.entry(flight.file).or_default();
                sent.confirmed = sent.confirmed.max(flight.end);
                Ok(Oldest::Confirmed)
            }
            Err(error) => {
                debug!(%error, "chunk of a record is not confirmed");
                Ok(Oldest::Unconfirmed)
            }
        }
    }

    async fn publish(&mut self, name: &str, chunk: Bytes) -> Result<bool, SendError> {
        use async_nats::jetstream::context::PublishErrorKind;
        let sent = self.files.entry(name.to_owned()).or_default();
        let (at, end) = (sent.next, sent.next + chunk.len() as u64);
        let headers = RecordHeaders {
            file: name.to_owned(),
            at,
        };
        let published = self
            .context
            .publish_with_headers(self.subject.clone(), headers.to_headers(), chunk)
            .await;
        match published {
            Ok(confirmation) => {
                sent.next = end;
                self.flight.push_back(Flight {
                    file: name.to_owned(),
                    end,
                    confirmation,
                });
                Ok(true)
            }
            Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                Err(SendError::Refused(error.to_string()))
            }
            Err(error) => {
                debug!(%error, "chunk of a record cannot be sent");
                Ok(false)
            }
        }
    }

    fn next_chunk(&self, file: &File, name: &str) -> Result<Option<Bytes>, SendError> {
        let at = self.files.get(name).map_or(0, |sent| sent.next);
        let mut bytes = vec![0; CHUNK];
        let read = read_at(file, &mut bytes, at);
        let read = read.map_err(|source| self.unreadable(name, source))?;
        bytes.truncate(read);
        Ok((read > 0).then(|| bytes.into()))
    }

    /// Forgets the chunks under way: the next chunks begin at the first byte that is not confirmed.
    fn go_back(&mut self) {
        self.flight.clear();
        for sent in self.files.values_mut() {
            sent.next = sent.confirmed;
        }
    }

    fn has_news(&self) -> Result<bool, SendError> {
        let next = |name: &str| self.files.get(name).map_or(0, |sent| sent.next);
        let lengths = self.lengths()?;
        Ok(lengths.iter().any(|(name, length)| next(name) < *length))
    }

    /// Returns the files that travel with their lengths.
    fn lengths(&self) -> Result<BTreeMap<String, u64>, SendError> {
        let opened = Directory::open_plain(&self.directory);
        let lengths = opened.and_then(|directory| record_lengths(&directory));
        lengths.map_err(|source| SendError::Unreadable {
            path: self.directory.clone(),
            source,
        })
    }

    fn unreadable(&self, name: &str, source: io::Error) -> SendError {
        SendError::Unreadable {
            path: self.directory.join(name),
            source,
        }
    }
}

fn open(directory: &Path, name: &str) -> Result<File, SendError> {
    let path = directory.join(name);
    pi_subagents_files::open_plain(&path).map_err(|source| SendError::Unreadable { path, source })
}

/// Reads from a place on until the buffer is full or the file ends.
fn read_at(file: &File, buffer: &mut [u8], mut at: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read_at(&mut buffer[read..], at) {
            Ok(0) => break,
            Ok(more) => {
                read += more;
                at += more as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
