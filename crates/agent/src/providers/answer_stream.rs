//! Reads the body of an answer piece by piece, within limits.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{Stream, stream};
use reqwest::Response;
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tracing::debug;

use super::chat_errors::{broken, silent, without_content};
use super::limits::Limits;
use super::sse::EventReader;
use super::{Chunk, ProviderError};

/// Reads the events of one answer, in one wire format.
pub(super) trait AnswerReader {
    /// Reads one event and adds the pieces of the answer that are in it.
    fn event(&mut self, event: Event, said: &mut Vec<Chunk>) -> Result<(), ProviderError>;

    /// Ends an answer whose stream is over without an end mark. Adds the last pieces, if the answer
    /// is complete after all.
    fn cut(&mut self, _said: &mut Vec<Chunk>) {}
}

/// The content of one event of a stream.
pub(super) enum Event {
    /// The mark behind the last chunk of a chat completion.
    Done,
    Json(Value),
}

/// Reads the answer piece by piece. `silence` is how long nothing may come.
pub(super) fn answer(
    response: Response,
    reader: Box<dyn AnswerReader>,
    silence: Option<Duration>,
) -> impl Stream<Item = Result<Chunk, ProviderError>> {
    let answering = Answering {
        response,
        reader,
        silence,
        limits: Limits::new(silence),
        events: EventReader::default(),
        unread: VecDeque::new(),
        waiting: VecDeque::new(),
        has_data: false,
        is_over: false,
        begun: Instant::now(),
        bytes: 0,
    };
    stream::unfold(answering, |mut answering| async move {
        let chunk = answering.next().await?;
        Some((chunk, answering))
    })
}

struct Answering {
    response: Response,
    reader: Box<dyn AnswerReader>,
    silence: Option<Duration>,
    limits: Limits,
    events: EventReader,
    unread: VecDeque<String>,
    waiting: VecDeque<Result<Chunk, ProviderError>>,
    /// Set as soon as something arrived that looks like a stream of events.
    has_data: bool,
    is_over: bool,
    begun: Instant,
    bytes: usize,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let (bytes, is_over) = (self.bytes, self.is_over);
        let seconds = self.begun.elapsed().as_secs_f64();
        debug!(bytes, seconds, is_over, "answer was read");
    }
}

impl Answering {
    async fn next(&mut self) -> Option<Result<Chunk, ProviderError>> {
        loop {
            if let Some(chunk) = self.waiting.pop_front() {
                return Some(chunk);
            }
            if self.is_over {
                return None;
            }
            if let Some(data) = self.unread.pop_front() {
                self.read(&data);
                continue;
            }
            match self.receive().await {
                Ok(true) => {}
                Ok(false) => self.end(),
                Err(error) => self.break_off(error),
            }
        }
    }

    /// Waits for the next bytes; false at the end of the body.
    async fn receive(&mut self) -> Result<bool, ProviderError> {
        let content_wait = self.limits.content_wait();
        if content_wait == Some(Duration::ZERO) {
            return Err(without_content());
        }
        let piece = self.response.chunk();
        let piece = match self.silence {
            Some(silence) => timeout(silence, piece).await.map_err(|_| silent())?,
            None => piece.await,
        };
        let Some(piece) = piece.map_err(|error| broken(&error))? else {
            return Ok(false);
        };
        self.bytes += piece.len();
        self.events
            .take(&piece, &mut self.unread)
            .map_err(|error| ProviderError::permanent(error.to_string()))?;
        Ok(true)
    }

    fn read(&mut self, data: &str) {
        self.has_data = true;
        let mut said = Vec::new();
        let read = match data.trim() {
            "[DONE]" => self.reader.event(Event::Done, &mut said),
            data => match serde_json::from_str(data) {
                Ok(json) => self.reader.event(Event::Json(json), &mut said),
                Err(error) => Err(ProviderError::permanent(format!(
                    "The server sent something that is not a model's answer: {error}"
                ))),
            },
        };
        self.pass_on(said);
        if let Err(error) = read {
            self.break_off(error);
        }
    }

    fn pass_on(&mut self, said: Vec<Chunk>) {
        for chunk in said {
            if self.is_over {
                return;
            }
            if let Err(error) = self.limits.count(&chunk) {
                return self.break_off(error);
            }
            self.is_over = matches!(chunk, Chunk::Finished(_));
            self.waiting.push_back(Ok(chunk));
        }
    }

    /// Takes the last bytes of the body, and tells a proper end from a broken connection.
    fn end(&mut self) {
        if let Some(data) = std::mem::take(&mut self.events).finish() {
            self.read(&data);
        }
        if self.is_over {
            return;
        }
        let mut said = Vec::new();
        self.reader.cut(&mut said);
        self.pass_on(said);
        if self.is_over {
            return;
        }
        let error = if self.has_data {
            ProviderError::cut_off()
        } else {
            ProviderError::transient(
                "The server did not return an event stream. Check the base URL and the api of the provider.",
            )
        };
        self.break_off(error);
    }

    fn break_off(&mut self, error: ProviderError) {
        if !self.is_over {
            self.is_over = true;
            self.waiting.push_back(Err(error));
        }
    }
}
