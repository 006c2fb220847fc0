//! The events of a response.

use std::collections::HashSet;

use serde_json::Value;

use crate::providers::answer_stream::{AnswerReader, Event};
use crate::providers::chat_errors::in_stream;
use crate::providers::finish::{Tokens, count, finished, text};
use crate::providers::open_calls::OpenCalls;
use crate::providers::{Chunk, ProviderError};

/// Reads one response.
#[derive(Debug)]
pub(in crate::providers) struct Reader {
    calls: OpenCalls,
    response_id: Option<String>,
}

impl Reader {
    pub(in crate::providers) fn new(known_calls: HashSet<String>) -> Self {
        Self {
            calls: OpenCalls::new(known_calls),
            response_id: None,
        }
    }

    fn read(&mut self, event: &Value, said: &mut Vec<Chunk>) -> Result<(), ProviderError> {
        if self.response_id.is_none() {
            self.response_id = text(event, "/response/id");
        }
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" if !delta.is_empty() => {
                said.push(Chunk::Text(delta.to_owned()));
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta"
                if !delta.is_empty() =>
            {
                said.push(Chunk::Thinking(delta.to_owned()));
            }
            "response.output_item.added" => self.begin(event, &event["item"], said),
            "response.function_call_arguments.delta" => {
                self.calls.add(&key(event), delta, said);
            }
            "response.output_item.done" => self.item(event, said),
            "response.completed" | "response.incomplete" => self.end(&event["response"], said),
            "response.failed" => return Err(failure(event)),
            "error" => return Err(in_stream(event)),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, event: &Value, item: &Value, said: &mut Vec<Chunk>) {
        let key = key(event);
        if item["type"] == "function_call" && self.calls.id_of(&key).is_none() {
            let text = |field: &str| item[field].as_str().unwrap_or_default();
            self.calls
                .begin(&key, text("call_id"), text("name"), None, said);
        }
    }

    fn item(&mut self, event: &Value, said: &mut Vec<Chunk>) {
        let item = &event["item"];
        match item["type"].as_str() {
            // Pi keeps the whole item; its encrypted part goes back to the server.
            Some("reasoning") => said.push(Chunk::ThinkingSignature(item.to_string())),
            // The arguments here are complete, whatever pieces came before.
            Some("function_call") => {
                self.begin(event, item, said);
                let arguments = item["arguments"].as_str().unwrap_or_default();
                if !arguments.is_empty() {
                    self.calls.complete(&key(event), arguments, said);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, response: &Value, said: &mut Vec<Chunk>) {
        // Some servers send no items, and some leave them out at the end.
        if self.calls.is_empty() {
            let items = response["output"].as_array().into_iter().flatten();
            for (index, item) in items.enumerate() {
                if item["type"] == "function_call" {
                    let event = serde_json::json!({"output_index": index, "item": item});
                    self.item(&event, said);
                }
            }
        }
        let filtered = response.pointer("/incomplete_details/reason");
        let reason = match filtered.and_then(Value::as_str) {
            Some("content_filter") => Some("content_filter".to_owned()),
            _ => text(response, "/status"),
        };
        let id = self.response_id.take();
        let usage = tokens(&response["usage"]).usage();
        said.push(finished(usage, reason, id, !self.calls.is_empty()));
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

/// Returns the place of an item in the response.
fn key(event: &Value) -> String {
    event["output_index"]
        .as_u64()
        .unwrap_or_default()
        .to_string()
}

fn tokens(usage: &Value) -> Tokens {
    Tokens {
        prompt: count(usage, "/input_tokens"),
        cache_read: count(usage, "/input_tokens_details/cached_tokens"),
        cache_write: count(usage, "/input_tokens_details/cache_write_tokens"),
        output: count(usage, "/output_tokens"),
        reasoning: count(usage, "/output_tokens_details/reasoning_tokens"),
    }
}

fn failure(event: &Value) -> ProviderError {
    let text = |place: &str| event.pointer(place).and_then(Value::as_str);
    let code = text("/response/error/code").unwrap_or("failed");
    let message = text("/response/error/message").unwrap_or("the server gave no reason");
    let message = format!("{code}: {message}");
    if matches!(code, "server_error" | "rate_limit_exceeded" | "failed") {
        ProviderError::transient(message)
    } else {
        ProviderError::permanent(message)
    }
}
