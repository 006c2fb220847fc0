//! Looks at the frames of a stream as they came, for what the library passes over.

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef, Usage};
use serde_json::Value;

use super::{ProviderError, Wire};

/// Sees every frame of one stream.
#[derive(Debug)]
pub(super) struct Witness {
    wire: Wire,
    seen: Mutex<Seen>,
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Seen {
    has_data: bool,
    response_id: Option<String>,
    /// Chat completions: the reason in the last choice, and the usage beside or after it.
    finish_reason: Option<String>,
    usage: Option<Usage>,
    /// Responses: finished items of reasoning that nobody has taken yet.
    reasoning: Vec<String>,
    /// Responses: the type of the event that ended the stream.
    ending: Option<String>,
    incomplete_because: Option<String>,
    failure: Option<ProviderError>,
}

impl Witness {
    pub(super) fn new(wire: Wire) -> Self {
        Self {
            wire,
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything came that looks like a stream of events.
    pub(super) fn has_data(&self) -> bool {
        self.seen().has_data
    }

    pub(super) fn response_id(&self) -> Option<String> {
        self.seen().response_id.clone()
    }

    /// Reasoning that is complete, as the JSON in which pi keeps it.
    pub(super) fn take_reasoning(&self) -> Vec<String> {
        std::mem::take(&mut self.seen().reasoning)
    }

    /// How a chat completion ended whose server forgot to say that it was the end.
    pub(super) fn take_unmarked_end(&self) -> Option<(String, Option<Usage>)> {
        let mut seen = self.seen();
        let reason = seen.finish_reason.take()?;
        Some((reason, seen.usage.take()))
    }

    /// The name of the event that said the response is over.
    pub(super) fn ending(&self) -> Option<String> {
        self.seen().ending.clone()
    }

    pub(super) fn incomplete_because(&self) -> Option<String> {
        self.seen().incomplete_because.clone()
    }

    /// What the server itself gave as the reason of a failure.
    pub(super) fn take_failure(&self) -> Option<ProviderError> {
        self.seen().failure.take()
    }

    /// Most frames are pieces of text; only those that may tell more are read.
    fn is_telling(&self, frame: &RawFrameRef<'_>) -> bool {
        let says = |text: &str| memchr::memmem::find(frame.data.as_bytes(), text.as_bytes());
        frame.index == 0
            || match self.wire {
                Wire::Completions => {
                    says("\"usage\"").is_some()
                        || says("\"finish_reason\"").is_some()
                            && says("\"finish_reason\":null").is_none()
                }
                Wire::Responses => {
                    says("\"response.completed\"").is_some()
                        || says("\"response.incomplete\"").is_some()
                        || says("\"response.failed\"").is_some()
                        || says("\"reasoning\"").is_some()
                }
                Wire::Messages | Wire::Google => false,
            }
    }
}

impl ChatFrameSink for Witness {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut seen = self.seen();
        seen.has_data |= !frame.data.is_empty();
        if !self.is_telling(&frame) {
            return;
        }
        let Some(frame) = frame.json() else {
            return;
        };
        let text = |place: &str| frame.pointer(place)?.as_str().map(str::to_owned);
        match self.wire {
            Wire::Completions => seen.completion(&frame),
            Wire::Responses => seen.response(&frame),
            Wire::Messages => seen.response_id = seen.response_id.take().or(text("/message/id")),
            Wire::Google => seen.response_id = seen.response_id.take().or(text("/responseId")),
        }
    }
}

impl Seen {
    fn completion(&mut self, frame: &Value) {
        let text = |place: &str| frame.pointer(place)?.as_str().map(str::to_owned);
        self.response_id = self.response_id.take().or(text("/id"));
        self.finish_reason = text("/choices/0/finish_reason").or(self.finish_reason.take());
        if let Some(usage) = frame.get("usage").filter(|usage| usage.is_object()) {
            self.usage = serde_json::from_value(usage.clone()).ok();
        }
    }

    fn response(&mut self, frame: &Value) {
        let text = |place: &str| frame.pointer(place)?.as_str().map(str::to_owned);
        self.response_id = self.response_id.take().or(text("/response/id"));
        match frame["type"].as_str() {
            Some("response.output_item.done") if frame["item"]["type"] == "reasoning" => {
                self.reasoning.push(frame["item"].to_string());
            }
            Some(ending @ ("response.completed" | "response.incomplete" | "response.failed")) => {
                self.ending = Some(ending.to_owned());
                self.incomplete_because = text("/response/incomplete_details/reason");
                if ending == "response.failed" {
                    self.failure = Some(failure(frame));
                }
            }
            _ => {}
        }
    }
}

fn failure(frame: &Value) -> ProviderError {
    let text = |place: &str| frame.pointer(place).and_then(Value::as_str);
    let code = text("/response/error/code").unwrap_or("failed");
    let message = text("/response/error/message").unwrap_or("the server gave no reason");
    let message = format!("{code}: {message}");
    if matches!(code, "server_error" | "rate_limit_exceeded" | "failed") {
        ProviderError::transient(message)
    } else {
        ProviderError::permanent(message)
    }
}
