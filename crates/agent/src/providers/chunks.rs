//! Turns the library's events into ours, and tells an end from a break.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use futures_util::{Stream, StreamExt, stream};
use genai::chat::{ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use serde_json::Value;

use super::chat_errors::explain;
use super::witness::Witness;
use super::{Chunk, Finish, ProviderError, Wire};
use crate::usage::Usage;

/// The answer piece by piece; `known_calls` are the ids that the conversation has already.
pub(super) fn chunks(
    wire: Wire,
    stream: ChatStream,
    witness: Arc<Witness>,
    known_calls: HashSet<String>,
) -> impl Stream<Item = Result<Chunk, ProviderError>> {
    let translation = Translation {
        wire,
        witness,
        calls: OpenCalls {
            comes_whole: wire == Wire::Google,
            known: known_calls,
            seen: Vec::new(),
        },
        signature: None,
        waiting: VecDeque::new(),
        is_over: false,
    };
    stream::unfold(
        (stream, translation),
        |(mut stream, mut translation)| async move {
            loop {
                if let Some(chunk) = translation.waiting.pop_front() {
                    return Some((chunk, (stream, translation)));
                }
                if translation.is_over {
                    return None;
                }
                match stream.next().await {
                    Some(Ok(event)) => translation.take(event),
                    Some(Err(error)) => translation.fail(&error),
                    None => translation.end_of_stream(),
                }
            }
        },
    )
}

struct Translation {
    wire: Wire,
    witness: Arc<Witness>,
    calls: OpenCalls,
    /// Google: a signature that no call has claimed.
    signature: Option<String>,
    waiting: VecDeque<Result<Chunk, ProviderError>>,
    is_over: bool,
}

impl Translation {
    fn take(&mut self, event: ChatStreamEvent) {
        for item in self.witness.take_reasoning() {
            self.say(Chunk::ThinkingSignature(item));
        }
        match event {
            ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                self.say(Chunk::Text(chunk.content));
            }
            ChatStreamEvent::ReasoningChunk(chunk) if !chunk.content.is_empty() => {
                self.say(Chunk::Thinking(chunk.content));
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => self.sign(chunk.content),
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let signatures = chunk.tool_call.thought_signatures.as_ref();
                let own = signatures.and_then(|signatures| signatures.first());
                if own.is_some() && own == self.signature.as_ref() {
                    self.signature = None;
                }
                let chunks = self.calls.call(&chunk.tool_call);
                self.waiting.extend(chunks.into_iter().map(Ok));
            }
            ChatStreamEvent::End(end) => self.end(end),
            ChatStreamEvent::Chunk(_)
            | ChatStreamEvent::ReasoningChunk(_)
            | ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat => {}
        }
    }

    fn say(&mut self, chunk: Chunk) {
        self.waiting.push_back(Ok(chunk));
    }

    fn sign(&mut self, signature: String) {
        match self.wire {
            Wire::Google => self.signature = Some(signature),
            Wire::Completions | Wire::Responses | Wire::Messages => {
                self.say(Chunk::ThinkingSignature(signature));
            }
        }
    }

    fn fail(&mut self, error: &genai::Error) {
        let failure = self.witness.take_failure();
        self.break_off(failure.unwrap_or_else(|| explain(error)));
    }

    fn break_off(&mut self, error: ProviderError) {
        self.is_over = true;
        self.waiting.push_back(Err(error));
    }

    fn end(&mut self, end: StreamEnd) {
        if let Some(broken) = self.broken(&end) {
            return self.break_off(broken);
        }
        self.is_over = true;
        for part in end.captured_content.iter().flatten() {
            match part {
                ContentPart::ToolCall(call) => {
                    let chunks = self.calls.complete(call);
                    self.waiting.extend(chunks.into_iter().map(Ok));
                }
                ContentPart::Custom(custom) if custom.data["type"] == "redacted_thinking" => {
                    let hidden = custom.data["data"].as_str().unwrap_or_default();
                    self.say(Chunk::Redacted(hidden.to_owned()));
                }
                _ => {}
            }
        }
        if let Some(signature) = self.signature.take() {
            self.say(Chunk::TextSignature(signature));
        }
        let stop = end.captured_stop_reason;
        let usage = end.captured_usage.as_ref().map(usage_of);
        let response_id = end.captured_response_id;
        self.finish(usage.unwrap_or_default(), stop, response_id);
    }

    fn finish(&mut self, usage: Usage, stop: Option<StopReason>, response_id: Option<String>) {
        let filtered = self.witness.incomplete_because().as_deref() == Some("content_filter");
        let refusal = match &stop {
            _ if filtered => Some("content_filter"),
            Some(StopReason::ContentFilter(reason)) => Some(reason.as_str()),
            // Words of a server's own count only where no call says what they mean, and a turn
            // that a server tool interrupts is nothing that we ask for, but no failure.
            Some(StopReason::Other(reason))
                if reason != "pause_turn" && self.calls.seen.is_empty() =>
            {
                Some(reason.as_str())
            }
            _ => None,
        };
        let finish = Finish {
            usage,
            reached_limit: matches!(stop, Some(StopReason::MaxTokens(_))),
            response_id: response_id.or_else(|| self.witness.response_id()),
            refusal: refusal.map(|reason| format!("Provider finish_reason: {reason}")),
            raw_stop_reason: stop.map(|stop| stop.raw().to_owned()),
        };
        self.say(Chunk::Finished(finish));
    }

    /// The library calls it an end when a response or Google's stream just stops, and when it
    /// did not understand the event that would have told what was called and used.
    fn broken(&self, end: &StreamEnd) -> Option<ProviderError> {
        let cut = || self.cut_off();
        match self.wire {
            Wire::Google => end.captured_stop_reason.is_none().then(cut),
            Wire::Completions | Wire::Messages => None,
            Wire::Responses => {
                let calls = end.captured_tool_calls().map_or(0, |calls| calls.len());
                match self.witness.ending() {
                    None => Some(cut()),
                    Some(_) if end.captured_usage.is_none() => Some(ProviderError::permanent(
                        "The response ended without usage, so its tool calls may be lost. The server does not speak openai-responses well enough; try openai-completions.",
                    )),
                    Some(_) if calls < self.calls.seen.len() => Some(ProviderError::permanent(
                        "The response lost tool calls on the way. The server does not speak openai-responses well enough; try openai-completions.",
                    )),
                    Some(_) => None,
                }
            }
        }
    }

    /// The stream is over although nothing said so.
    fn end_of_stream(&mut self) {
        let ended = match self.wire {
            Wire::Completions => self.witness.take_unmarked_end(),
            Wire::Responses | Wire::Messages | Wire::Google => None,
        };
        let Some((reason, usage)) = ended else {
            return self.break_off(self.cut_off());
        };
        self.is_over = true;
        let usage = usage.as_ref().map(usage_of).unwrap_or_default();
        self.finish(usage, Some(StopReason::from(reason)), None);
    }

    fn cut_off(&self) -> ProviderError {
        if self.witness.has_data() {
            ProviderError::cut_off()
        } else {
            ProviderError::transient(
                "The server answered with something that is no stream of events. Check the base URL and the api of the provider.",
            )
        }
    }
}

/// The tool calls of one answer. Most formats repeat the whole call with every piece; this
/// remembers how much of each was passed on.
struct OpenCalls {
    /// Google never sends a call in pieces.
    comes_whole: bool,
    /// Ids that cannot be used again: some servers count from 0 in every answer.
    known: HashSet<String>,
    seen: Vec<OpenCall>,
}

struct OpenCall {
    /// The id as the server gives it.
    theirs: String,
    ours: String,
    arguments: String,
}

impl OpenCalls {
    fn call(&mut self, call: &ToolCall) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let known = self.position(&call.call_id).filter(|_| !self.comes_whole);
        let at = known.unwrap_or_else(|| {
            chunks.push(self.begin(call));
            self.seen.len() - 1
        });
        let open = &mut self.seen[at];
        let arguments = text_of(&call.fn_arguments);
        if let Some(delta) = arguments.get(open.arguments.len()..)
            && !delta.is_empty()
        {
            chunks.push(Chunk::CallArguments {
                id: open.ours.clone(),
                delta: delta.to_owned(),
            });
            open.arguments = arguments;
        }
        chunks
    }

    /// Makes up for what the pieces left out.
    fn complete(&mut self, call: &ToolCall) -> Vec<Chunk> {
        if self.comes_whole {
            return Vec::new();
        }
        let Some(at) = self.position(&call.call_id) else {
            return self.call(call);
        };
        let open = &self.seen[at];
        let streamed: Option<Value> = serde_json::from_str(&open.arguments).ok();
        let whole = match &call.fn_arguments {
            Value::String(text) => serde_json::from_str(text).ok(),
            Value::Null => None,
            object => Some(object.clone()),
        };
        if whole.is_none() || whole == streamed {
            return Vec::new();
        }
        vec![Chunk::CallCorrected {
            id: open.ours.clone(),
            arguments: whole.unwrap_or_default(),
        }]
    }

    fn position(&self, theirs: &str) -> Option<usize> {
        self.seen.iter().position(|open| open.theirs == theirs)
    }

    fn begin(&mut self, call: &ToolCall) -> Chunk {
        let ours = self.unused(&call.call_id);
        self.known.insert(ours.clone());
        self.seen.push(OpenCall {
            theirs: call.call_id.clone(),
            ours: ours.clone(),
            arguments: String::new(),
        });
        let signatures = call.thought_signatures.as_ref();
        Chunk::CallStart {
            id: ours,
            name: call.fn_name.clone(),
            signature: signatures.and_then(|signatures| signatures.first().cloned()),
        }
    }

    /// Digits at the end keep the form by which the library knows ids that it made up itself.
    fn unused(&self, id: &str) -> String {
        let id = if id.is_empty() { "call_" } else { id };
        let numbered = (1..).map(|number| format!("{id}{number}"));
        std::iter::once(id.to_owned())
            .chain(numbered)
            .find(|id| !self.known.contains(id))
            .unwrap_or_default()
    }
}

fn text_of(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        object => object.to_string(),
    }
}

/// The library counts cached tokens as part of the prompt; we count them apart, as pi does.
fn usage_of(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let prompt = usage.prompt_tokens_details.as_ref();
    let cache_read = count(prompt.and_then(|details| details.cached_tokens));
    let cache_write = count(prompt.and_then(|details| details.cache_creation_tokens));
    let details = usage.completion_tokens_details.as_ref();
    let reasoning = count(details.and_then(|details| details.reasoning_tokens));
    // An answer of nothing but thoughts has no other count.
    let output = count(usage.completion_tokens).max(reasoning);
    let input = count(usage.prompt_tokens).saturating_sub(cache_read + cache_write);
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        reasoning: Some(reasoning),
        total_tokens: input + output + cache_read + cache_write,
        cost: None,
    }
}
