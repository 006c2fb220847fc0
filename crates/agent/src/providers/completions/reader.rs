//! The chunks of a chat completion.

use std::collections::HashSet;

use serde_json::Value;

use crate::providers::answer_stream::{AnswerReader, Event};
use crate::providers::chat_errors::in_stream;
use crate::providers::finish::{Tokens, count, finished, text};
use crate::providers::open_calls::OpenCalls;
use crate::providers::{Chunk, ProviderError};

/// Reads one chat completion.
#[derive(Debug)]
pub(in crate::providers) struct Reader {
    calls: OpenCalls,
    tokens: Tokens,
    reason: Option<String>,
    response_id: Option<String>,
}

impl Reader {
    pub(in crate::providers) fn new(known_calls: HashSet<String>) -> Self {
        Self {
            calls: OpenCalls::new(known_calls),
            tokens: Tokens::default(),
            reason: None,
            response_id: None,
        }
    }

    fn finish(&mut self, said: &mut Vec<Chunk>) {
        let (reason, id) = (self.reason.take(), self.response_id.take());
        let has_calls = !self.calls.is_empty();
        said.push(finished(self.tokens.usage(), reason, id, has_calls));
    }

    fn chunk(&mut self, chunk: &Value, said: &mut Vec<Chunk>) {
        if self.response_id.is_none() {
            self.response_id = text(chunk, "/id");
        }
        if let Some(usage) = usage_in(chunk) {
            self.tokens = tokens(usage);
        }
        let Some(choice) = chunk.pointer("/choices/0") else {
            return;
        };
        let delta = &choice["delta"];
        words(delta, said);
        for (place, call) in delta["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            self.call(place, call, said);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.reason = Some(reason.to_owned());
        }
    }

    fn call(&mut self, place: usize, call: &Value, said: &mut Vec<Chunk>) {
        let key = match call["index"].as_u64() {
            Some(index) => index.to_string(),
            None => place.to_string(),
        };
        let function = &call["function"];
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let name = function["name"].as_str().unwrap_or_default();
        // Some servers give every call the same index, but an id and a name of its own.
        let is_new = match (self.calls.id_of(&key), id) {
            (None, _) => true,
            (Some(open), Some(id)) => open != id && !name.is_empty(),
            (Some(_), None) => false,
        };
        if is_new {
            let made_up = format!("call_{key}");
            self.calls
                .begin(&key, id.unwrap_or(&made_up), name, None, said);
        }
        match &function["arguments"] {
            Value::String(delta) => self.calls.add(&key, delta, said),
            whole @ Value::Object(_) => self.calls.add(&key, &whole.to_string(), said),
            _ => {}
        }
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, event: Event, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        match event {
            Event::Done => self.finish(said),
            Event::Json(chunk) if chunk.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(in_stream(&chunk));
            }
            Event::Json(chunk) => self.chunk(&chunk, said),
        }
        Ok(())
    }

    /// Ends an answer that was cut. If the server gave a reason, it has only forgotten the mark behind
    /// the last chunk.
    fn cut(&mut self, said: &mut Vec<Chunk>) {
        if self.reason.is_some() {
            self.finish(said);
        }
    }
}

fn words(delta: &Value, said: &mut Vec<Chunk>) {
    let mut say = |text: &str, make: fn(String) -> Chunk| {
        if !text.is_empty() {
            said.push(make(text.to_owned()));
        }
    };
    let thoughts = ["reasoning_content", "reasoning"];
    let thought = thoughts.iter().find_map(|field| delta[field].as_str());
    say(thought.unwrap_or_default(), Chunk::Thinking);
    match &delta["content"] {
        Value::String(text) => say(text, Chunk::Text),
        // Mistral's reasoning models send lists of parts.
        Value::Array(parts) => {
            for part in parts {
                match &part["thinking"] {
                    Value::String(thought) => say(thought, Chunk::Thinking),
                    Value::Array(inner) => {
                        for part in inner {
                            say(part["text"].as_str().unwrap_or_default(), Chunk::Thinking);
                        }
                    }
                    _ => say(part["text"].as_str().unwrap_or_default(), Chunk::Text),
                }
            }
        }
        _ => {}
    }
}

/// Returns the usage in a chunk; Groq keeps it in a place of its own.
fn usage_in(chunk: &Value) -> Option<&Value> {
    let places = ["/usage", "/x_groq/usage"];
    let mut found = places.iter().filter_map(|place| chunk.pointer(place));
    found.find(|usage| usage.is_object())
}

fn tokens(usage: &Value) -> Tokens {
    let read = count(usage, "/prompt_tokens_details/cached_tokens");
    Tokens {
        prompt: count(usage, "/prompt_tokens"),
        // DeepSeek's name for it.
        cache_read: read.max(count(usage, "/prompt_cache_hit_tokens")),
        cache_write: count(usage, "/prompt_tokens_details/cache_write_tokens"),
        output: count(usage, "/completion_tokens"),
        reasoning: count(usage, "/completion_tokens_details/reasoning_tokens"),
    }
}
