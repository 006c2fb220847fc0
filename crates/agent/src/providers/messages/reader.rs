//! The events of a message.

use std::collections::HashSet;

use serde_json::Value;

use crate::providers::answer_stream::{AnswerReader, Event};
use crate::providers::chat_errors::in_stream;
use crate::providers::finish::{Tokens, count, finished, text};
use crate::providers::open_calls::OpenCalls;
use crate::providers::{Chunk, ProviderError};

/// Reads one message.
#[derive(Debug)]
pub(in crate::providers) struct Reader {
    calls: OpenCalls,
    /// The tokens without those that came from or went to the cache, as this format counts.
    input: u64,
    tokens: Tokens,
    reason: Option<String>,
    response_id: Option<String>,
}

impl Reader {
    pub(in crate::providers) fn new(known_calls: HashSet<String>) -> Self {
        Self {
            calls: OpenCalls::new(known_calls),
            input: 0,
            tokens: Tokens::default(),
            reason: None,
            response_id: None,
        }
    }

    fn read(&mut self, event: &Value, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.response_id = text(event, "/message/id");
                self.count(&event["message"]["usage"]);
            }
            "content_block_start" => self.begin(event, said),
            "content_block_delta" => self.delta(event, said),
            "message_delta" => {
                self.count(&event["usage"]);
                if let Some(reason) = text(event, "/delta/stop_reason") {
                    self.reason = Some(reason);
                }
            }
            "message_stop" => self.finish(said),
            "error" => return Err(in_stream(event)),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, event: &Value, said: &mut Vec<Chunk>) {
        let block = &event["content_block"];
        let text = |field: &str| block[field].as_str().unwrap_or_default();
        let mut say = |text: &str, make: fn(String) -> Chunk| {
            if !text.is_empty() {
                said.push(make(text.to_owned()));
            }
        };
        match block["type"].as_str().unwrap_or_default() {
            "text" => say(text("text"), Chunk::Text),
            "thinking" => {
                say(text("thinking"), Chunk::Thinking);
                say(text("signature"), Chunk::ThinkingSignature);
            }
            "redacted_thinking" => said.push(Chunk::Redacted(text("data").to_owned())),
            "tool_use" => {
                let key = key(event);
                self.calls.begin(&key, text("id"), text("name"), None, said);
                // Some servers send the arguments with the block and not in pieces.
                let input = &block["input"];
                if input.as_object().is_some_and(|input| !input.is_empty()) {
                    self.calls.add(&key, &input.to_string(), said);
                }
            }
            _ => {}
        }
    }

    fn delta(&mut self, event: &Value, said: &mut Vec<Chunk>) {
        let delta = &event["delta"];
        let text = |field: &str| delta[field].as_str().unwrap_or_default();
        let mut say = |text: &str, make: fn(String) -> Chunk| {
            if !text.is_empty() {
                said.push(make(text.to_owned()));
            }
        };
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => say(text("text"), Chunk::Text),
            "thinking_delta" => say(text("thinking"), Chunk::Thinking),
            "signature_delta" => say(text("signature"), Chunk::ThinkingSignature),
            "input_json_delta" => self.calls.add(&key(event), text("partial_json"), said),
            _ => {}
        }
    }

    /// Takes the counts that are there: some come at the beginning, some at the end, some
    /// servers repeat them.
    fn count(&mut self, usage: &Value) {
        let take = |place: &str, known: &mut u64| {
            let found = count(usage, place);
            if found > 0 {
                *known = found;
            }
        };
        take("/input_tokens", &mut self.input);
        take("/cache_read_input_tokens", &mut self.tokens.cache_read);
        take("/cache_creation_input_tokens", &mut self.tokens.cache_write);
        take("/output_tokens", &mut self.tokens.output);
        take(
            "/output_tokens_details/thinking_tokens",
            &mut self.tokens.reasoning,
        );
    }

    fn finish(&mut self, said: &mut Vec<Chunk>) {
        let cached = self.tokens.cache_read + self.tokens.cache_write;
        let tokens = Tokens {
            prompt: self.input + cached,
            ..self.tokens
        };
        let (reason, id) = (self.reason.take(), self.response_id.take());
        let has_calls = !self.calls.is_empty();
        said.push(finished(tokens.usage(), reason, id, has_calls));
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, event: Event, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        match event {
            Event::Done => Ok(()),
            Event::Json(event) => self.read(&event, said),
        }
    }
}

/// Returns the place of a block in the message.
fn key(event: &Value) -> String {
    event["index"].as_u64().unwrap_or_default().to_string()
}
