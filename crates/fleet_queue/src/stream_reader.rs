//! Reads the messages of some subjects of a stream in order, through everything that happens to the
//! connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull::Config;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::debug;

use crate::connect::Fleet;
use crate::error::FleetError;

/// The number of messages that come with one pull. With many more, a reader that is slow for a
/// moment is cut off by the server.
const BATCH: usize = 16;

/// The time for which one pull waits for a message.
const PULL: Duration = Duration::from_secs(2);

/// The time without a message after which the reader asks whether it missed one.
const SILENCE: Duration = Duration::from_secs(5);

/// The pause before a reader that failed tries again.
const AGAIN: Duration = Duration::from_millis(500);

/// The time for which the server remembers a reader that does not pull.
const REMEMBERED: Duration = Duration::from_mins(1);

/// The message with which a reader begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beginning {
    /// The first of each subject.
    First,
    /// The last of each subject.
    Last,
}

/// A reader of some subjects. Nothing is read any more when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamReader {
    messages: mpsc::Receiver<Result<Message, FleetError>>,
    /// The server has no message for the reader that is not in the channel.
    is_caught_up: Arc<AtomicBool>,
    /// The last message of the stream that is in the channel, or was.
    last: Arc<AtomicU64>,
    reading: JoinHandle<()>,
}

impl StreamReader {
    /// Begins to read.
    pub(crate) fn start(
        fleet: &Fleet,
        stream: String,
        subjects: Vec<String>,
        beginning: Beginning,
    ) -> Self {
        // The same number as with one pull, so that a reader that stands still holds no more.
        let (sender, messages) = mpsc::channel(BATCH);
        let is_caught_up = Arc::new(AtomicBool::new(false));
        let last = Arc::new(AtomicU64::new(0));
        let reading = Reading {
            is_caught_up: Arc::clone(&is_caught_up),
            put: Arc::clone(&last),
            fleet: fleet.clone(),
            stream,
            subjects,
            beginning,
            last: 0,
            heard: Instant::now(),
            connections: 0,
        };
        Self {
            messages,
            is_caught_up,
            last,
            reading: tokio::spawn(reading.go_on(sender)),
        }
    }

    /// Returns whether everything has been read that the server had when it was last asked.
    pub(crate) fn is_caught_up(&self) -> bool {
        self.messages.is_empty() && self.is_caught_up.load(Ordering::SeqCst)
    }

    /// Returns whether everything up to this message of the stream has been read.
    pub(crate) fn has_read(&self, sequence: u64) -> bool {
        self.last.load(Ordering::SeqCst) >= sequence && self.messages.is_empty()
    }

    /// Waits for the next message. Nothing is lost if this is not waited for to its end. A reader
    /// whom the server refuses is told so once, and nothing comes after that.
    pub(crate) async fn next(&mut self) -> Result<Message, FleetError> {
        match self.messages.recv().await {
            Some(message) => message,
            // It has ended with the runtime, or with a refusal.
            None => std::future::pending().await,
        }
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

struct Reading {
    fleet: Fleet,
    is_caught_up: Arc<AtomicBool>,
    /// The last message that was put into the channel.
    put: Arc<AtomicU64>,
    stream: String,
    subjects: Vec<String>,
    beginning: Beginning,
    /// The last message of the stream that was read; 0 before the first.
    last: u64,
    /// The time at which a message was last read, or known to be absent.
    heard: Instant,
    /// The number of connections that the client had made when the consumer was made.
    connections: u64,
}

/// Nobody reads the messages any more.
struct Unwanted;

impl Reading {
    async fn go_on(mut self, messages: mpsc::Sender<Result<Message, FleetError>>) {
        let (fleet, stream) = (self.fleet.clone(), self.stream.clone());
        let reading = Box::pin(self.read_all(&messages));
        let read = fleet.unless_refused(&stream, reading).await;
        if let Err(refusal) = read {
            // Nobody may read the messages any more.
            _ = messages.send(Err(refusal)).await;
        }
    }

    /// Reads until nobody wants more.
    async fn read_all(&mut self, messages: &mpsc::Sender<Result<Message, FleetError>>) {
        loop {
            let read = match self.consumer().await {
                Ok((stream, consumer)) => self.read(&stream, &consumer, messages).await,
                Err(error) => {
                    debug!(stream = self.stream, %error, "stream cannot be read now");
                    Ok(())
                }
            };
            if read.is_err() {
                return;
            }
            sleep(AGAIN).await;
        }
    }

    /// Makes a consumer that begins behind the last message that was read.
    async fn consumer(&mut self) -> Result<(Stream, PullConsumer), async_nats::Error> {
        self.connections = self.connections_now();
        let stream = self.fleet.inner.streams.get_stream(&self.stream).await?;
        if stream.cached_info().state.last_sequence < self.last {
            // A server that lost its disk counts from one again.
            self.last = 0;
            self.put.store(0, Ordering::SeqCst);
        }
        let deliver_policy = match (self.last, self.beginning) {
            (0, Beginning::First) => DeliverPolicy::All,
            (0, Beginning::Last) => DeliverPolicy::LastPerSubject,
            (last, _) => DeliverPolicy::ByStartSequence {
                start_sequence: last + 1,
            },
        };
        let config = Config {
            deliver_policy,
            ack_policy: AckPolicy::None,
            filter_subjects: self.subjects.clone(),
            inactive_threshold: REMEMBERED,
            max_batch: i64::try_from(BATCH).unwrap_or(i64::MAX),
            memory_storage: true,
            num_replicas: 1,
            ..Config::default()
        };
        let consumer = stream.create_consumer(config).await?;
        self.note_pending(consumer.cached_info().num_pending);
        Ok((stream, consumer))
    }

    /// Reads until the consumer must be made again.
    async fn read(
        &mut self,
        stream: &Stream,
        consumer: &PullConsumer,
        messages: &mpsc::Sender<Result<Message, FleetError>>,
    ) -> Result<(), Unwanted> {
        let mut expected = 1;
        self.heard = Instant::now();
        while self.connections == self.connections_now() {
            let pull = consumer.batch().max_messages(BATCH).expires(PULL);
            let Ok(mut pulled) = pull.messages().await else {
                return Ok(());
            };
            while let Some(Ok(message)) = pulled.next().await {
                let Ok(info) = message.info() else {
                    return Ok(());
                };
                if info.consumer_sequence != expected {
                    debug!(expected, "a message was lost on the way");
                    return Ok(());
                }
                expected += 1;
                self.last = info.stream_sequence;
                let (pending, sequence) = (info.pending, info.stream_sequence);
                messages.send(Ok(message)).await.map_err(|_| Unwanted)?;
                self.put.store(sequence, Ordering::SeqCst);
                self.note_pending(pending);
                self.heard = Instant::now();
            }
            if self.heard.elapsed() >= SILENCE {
                if self.is_behind(stream).await {
                    debug!("a reader had fallen silent");
                    return Ok(());
                }
                self.heard = Instant::now();
            }
        }
        Ok(())
    }

    /// Returns whether the stream has a message for this reader that it has not read.
    async fn is_behind(&self, stream: &Stream) -> bool {
        for subject in &self.subjects {
            let newest = stream.direct_get_last_for_subject(subject).await;
            if newest.is_ok_and(|newest| newest.sequence > self.last) {
                return true;
            }
        }
        false
    }

    /// Notes how many messages the server still has for this reader.
    fn note_pending(&self, pending: u64) {
        self.is_caught_up.store(pending == 0, Ordering::SeqCst);
    }

    fn connections_now(&self) -> u64 {
        self.fleet.connections()
    }
}
