//! The end of an answer: the meaning of the reasons in the four formats.

use serde_json::Value;

use super::{Chunk, Finish};
use crate::usage::{MOST_TOKENS, Usage};

/// Reasons for which a provider ends an answer that it does not want to give.
const FILTERED: [&str; 12] = [
    "content_filter",
    "refusal",
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "LANGUAGE",
    "ERROR_TOXIC",
];

/// Reasons for which an answer stops before it is complete.
const OUT_OF_ROOM: [&str; 6] = [
    "length",
    "max_tokens",
    "MAX_TOKENS",
    "incomplete",
    "model_context_window_exceeded",
    "model_length",
];

/// Reasons for which an answer ends as it should.
const ORDINARY: [&str; 11] = [
    "stop",
    "end_turn",
    "STOP",
    "COMPLETE",
    "completed",
    "tool_calls",
    "tool_use",
    "function_call",
    "stop_sequence",
    "STOP_SEQUENCE",
    // A turn that a server tool interrupts is nothing that we ask for, but no failure.
    "pause_turn",
];

/// Ends an answer for `reason`, the provider's own word.
pub(super) fn finished(
    usage: Usage,
    reason: Option<String>,
    response_id: Option<String>,
    has_calls: bool,
) -> Chunk {
    let word = reason.as_deref();
    // An unknown word counts as a refusal only if the answer has no calls.
    let refusal = word.filter(|word| {
        let is_known = ORDINARY.contains(word) || OUT_OF_ROOM.contains(word);
        FILTERED.contains(word) || !is_known && !has_calls
    });
    Chunk::Finished(Finish {
        usage,
        reached_limit: word.is_some_and(|word| OUT_OF_ROOM.contains(&word)),
        response_id,
        refusal: refusal.map(|reason| format!("Provider finish_reason: {reason}")),
        raw_stop_reason: reason,
    })
}

/// Counts of one answer. `prompt` includes the tokens that came from or went to the cache, and
/// `output` includes reasoning.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tokens {
    pub(super) prompt: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    pub(super) output: u64,
    pub(super) reasoning: u64,
}

impl Tokens {
    /// Returns the counts as pi has them: cached tokens are counted apart.
    pub(super) fn usage(self) -> Usage {
        let cached = self.cache_read.saturating_add(self.cache_write);
        let input = self.prompt.saturating_sub(cached);
        // An answer of nothing but thoughts has no other count.
        let output = self.output.max(self.reasoning);
        Usage {
            input,
            output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            reasoning: Some(self.reasoning),
            total_tokens: input.saturating_add(output).saturating_add(cached),
            cost: None,
        }
    }
}

/// Reads a count in a frame; a value that is no count, or an absurd one, is zero.
pub(super) fn count(frame: &Value, place: &str) -> u64 {
    let tokens = frame.pointer(place).and_then(Value::as_u64);
    tokens.filter(|tokens| *tokens < MOST_TOKENS).unwrap_or(0)
}

/// Reads a text in a frame.
pub(super) fn text(frame: &Value, place: &str) -> Option<String> {
    frame.pointer(place)?.as_str().map(str::to_owned)
}
