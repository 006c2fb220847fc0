//! The chunks of generated content.

use std::collections::HashSet;

use serde_json::Value;

use super::made_up_id;
use crate::providers::answer_stream::{AnswerReader, Event};
use crate::providers::chat_errors::in_stream;
use crate::providers::finish::{Tokens, count, finished, text};
use crate::providers::open_calls::OpenCalls;
use crate::providers::{Chunk, ProviderError};

/// Reads one answer. A call always comes whole.
#[derive(Debug)]
pub(in crate::providers) struct Reader {
    calls: OpenCalls,
    tokens: Tokens,
    response_id: Option<String>,
    /// A signature that no call has claimed.
    signature: Option<String>,
}

impl Reader {
    pub(in crate::providers) fn new(known_calls: HashSet<String>) -> Self {
        Self {
            calls: OpenCalls::new(known_calls),
            tokens: Tokens::default(),
            response_id: None,
            signature: None,
        }
    }

    fn read(&mut self, chunk: &Value, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(in_stream(chunk));
        }
        if self.response_id.is_none() {
            self.response_id = text(chunk, "/responseId");
        }
        if chunk["usageMetadata"].is_object() {
            self.tokens = tokens(&chunk["usageMetadata"]);
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason") {
            let reason = reason.as_str().unwrap_or("no reason given");
            return Err(ProviderError::permanent(format!(
                "The prompt was blocked: {reason}"
            )));
        }
        let candidate = &chunk["candidates"][0];
        let parts = candidate["content"]["parts"].as_array();
        for part in parts.into_iter().flatten() {
            self.part(part, said);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.finish(reason, said);
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, said: &mut Vec<Chunk>) {
        let signature = text(part, "/thoughtSignature");
        let call = &part["functionCall"];
        if call.is_object() {
            let name = call["name"].as_str().unwrap_or_default();
            let place = self.calls.len();
            let id = text(call, "/id").unwrap_or_else(|| made_up_id(name, place));
            let key = place.to_string();
            self.calls.begin(&key, &id, name, signature, said);
            if call["args"].is_object() {
                self.calls.add(&key, &call["args"].to_string(), said);
            }
            return;
        }
        self.signature = signature.or(self.signature.take());
        match part["text"].as_str() {
            Some("") | None => {}
            Some(words) if part["thought"] == true => said.push(Chunk::Thinking(words.to_owned())),
            Some(words) => said.push(Chunk::Text(words.to_owned())),
        }
    }

    fn finish(&mut self, reason: &str, said: &mut Vec<Chunk>) {
        said.extend(self.signature.take().map(Chunk::TextSignature));
        let id = self.response_id.take();
        let has_calls = !self.calls.is_empty();
        let reason = Some(reason.to_owned());
        said.push(finished(self.tokens.usage(), reason, id, has_calls));
    }
}

impl AnswerReader for Reader {
    fn event(&mut self, event: Event, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        match event {
            Event::Done => Ok(()),
            Event::Json(chunk) => self.read(&chunk, said),
        }
    }
}

fn tokens(usage: &Value) -> Tokens {
    let thoughts = count(usage, "/thoughtsTokenCount");
    Tokens {
        prompt: count(usage, "/promptTokenCount") + count(usage, "/toolUsePromptTokenCount"),
        cache_read: count(usage, "/cachedContentTokenCount"),
        cache_write: 0,
        output: count(usage, "/candidatesTokenCount") + thoughts,
        reasoning: thoughts,
    }
}
