//! The limits on a server's answer: its size, and how long the agent waits for it.
//!
//! The longest answers of today's models have 128,000 tokens, about half a megabyte of text.

use std::time::{Duration, Instant};

use super::{Chunk, ProviderError};

/// The bytes of one event. A response of OpenAI's ends with an event that repeats the whole answer,
/// and Google sends a call with all its arguments in one event.
pub(super) const EVENT_BYTES: usize = 8 << 20;
/// The bytes of text, thoughts and arguments in one answer: eight times the longest real answer.
const ANSWER_BYTES: usize = 4 << 20;
/// The number of bytes that each block counts in addition, so that a million empty blocks are not
/// free.
const BLOCK_BYTES: usize = 256;
/// The number of calls in one answer; each of them is run.
pub(super) const ANSWER_CALLS: usize = 256;
/// The bytes that are read of an error; 500 characters of it are shown.
pub(super) const ERROR_BYTES: usize = 64 << 10;
/// The time that the text of an error may take to come once its status is known.
pub(super) const ERROR_TIME: Duration = Duration::from_secs(5);
/// The factor between the setting for silence and the time without any content. Servers send
/// heartbeats while a model thinks, which may take many minutes, but not for ever: with pi's
/// default of five minutes the limit is half an hour.
const HEARTBEAT_PATIENCE: u32 = 6;

/// The size of one answer so far.
#[derive(Debug)]
pub(super) struct Limits {
    bytes: usize,
    calls: usize,
    /// The kind of the block that is open, to see when the next begins.
    open: Option<std::mem::Discriminant<Chunk>>,
    heard: Instant,
    /// The time for which heartbeats may stand for an answer; `None` waits for ever.
    patience: Option<Duration>,
}

impl Limits {
    /// Begins to count; `silence` is how long nothing at all may come.
    pub(super) fn new(silence: Option<Duration>) -> Self {
        Self {
            bytes: 0,
            calls: 0,
            open: None,
            heard: Instant::now(),
            patience: silence.map(|silence| silence.saturating_mul(HEARTBEAT_PATIENCE)),
        }
    }

    /// Counts a piece of the answer, and refuses a piece that is too much.
    pub(super) fn count(&mut self, chunk: &Chunk) -> Result<(), ProviderError> {
        self.heard = Instant::now();
        self.bytes += size(chunk);
        let kind = std::mem::discriminant(chunk);
        if self.open.replace(kind) != Some(kind) || matches!(chunk, Chunk::CallStart { .. }) {
            self.bytes += BLOCK_BYTES;
        }
        if matches!(chunk, Chunk::CallStart { .. }) {
            self.calls += 1;
        }
        if self.bytes > ANSWER_BYTES {
            return Err(too_much(&format!("{ANSWER_BYTES} bytes")));
        }
        if self.calls > ANSWER_CALLS {
            return Err(too_much(&format!("{ANSWER_CALLS} tool calls")));
        }
        Ok(())
    }

    /// Returns how long to wait for content from now on; zero if it is too late.
    pub(super) fn content_wait(&self) -> Option<Duration> {
        let patience = self.patience?;
        Some(patience.saturating_sub(self.heard.elapsed()))
    }
}

fn size(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::Thinking(text)
        | Chunk::ThinkingSignature(text)
        | Chunk::Redacted(text)
        | Chunk::Text(text)
        | Chunk::TextSignature(text)
        | Chunk::CallArguments { delta: text, .. } => text.len(),
        Chunk::CallStart {
            id,
            name,
            signature,
        } => id.len() + name.len() + signature.as_ref().map_or(0, String::len),
        // These replace pieces that were counted, and came in an event that has a limit of its own;
        // headers have one too.
        Chunk::CallCorrected { .. } | Chunk::Finished(_) | Chunk::Windows(_) => 0,
    }
}

/// Returns the error for an answer that is too long. It is permanent: asking again would bring the
/// same flood, and cost the same.
fn too_much(what: &str) -> ProviderError {
    ProviderError::permanent(format!(
        "The answer was ended: the server sent more than {what}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused_after(chunk: &dyn Fn(usize) -> Chunk) -> (usize, String) {
        let mut limits = Limits::new(None);
        let mut counted = (0..ANSWER_BYTES).map(|number| limits.count(&chunk(number)));
        let at = counted.by_ref().position(|counted| counted.is_err());
        let error = limits.count(&chunk(0)).unwrap_err();
        (at.unwrap(), error.message)
    }

    #[test]
    fn an_answer_has_a_limit_whatever_it_is_made_of() {
        let long = refused_after(&|_| Chunk::Text("x".repeat(1 << 16)));
        assert_eq!(long.0, (ANSWER_BYTES - BLOCK_BYTES) >> 16);
        let tiny = refused_after(&|number| match number % 2 {
            0 => Chunk::Text("x".to_owned()),
            _ => Chunk::Thinking("y".to_owned()),
        });
        assert!(tiny.0 <= ANSWER_BYTES / BLOCK_BYTES, "{tiny:?}");
        let calls = refused_after(&|number| Chunk::CallStart {
            id: number.to_string(),
            name: "ls".to_owned(),
            signature: None,
        });
        assert_eq!(
            calls,
            (
                ANSWER_CALLS,
                "The answer was ended: the server sent more than 256 tool calls.".to_owned()
            )
        );
    }
}
