//! Real models, through `genai` on our own HTTP client.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatOptions, ChatStream, ChatStreamEvent, ReasoningEffort, StopReason, StreamEnd, ToolCall,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use reqwest::Certificate;
use serde_json::Value;

use super::chat_errors::{broken, explain};
use super::{Chunk, ChunkStream, Finish, Provider, ProviderError, Request, chat_request};
use crate::models::{Credential, Model, ThinkingLevel};
use crate::usage::Usage;

const CONNECT_TIME: Duration = Duration::from_secs(30);

/// The HTTP client; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections {
    client: Client,
}

impl Connections {
    /// Prepares connections; nothing is sent yet.
    pub(crate) fn open() -> Result<Self, genai::Error> {
        // Fails only if someone else has chosen already, and then theirs is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A machine without certificates of its own, such as a bare container, gets Mozilla's.
        let http = builder()
            .build()
            .or_else(|_| builder().tls_certs_only(bundled_roots()).build())
            .map_err(|error| genai::Error::Internal(broken(&error).message))?;
        Ok(Self {
            client: Client::builder().with_reqwest(http).build()?,
        })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIME)
        .user_agent(concat!("pi-subagents/", env!("CARGO_PKG_VERSION")))
}

fn bundled_roots() -> Vec<Certificate> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    roots
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
}

/// Speaks to one provider with one key.
pub(crate) struct ChatProvider {
    connections: Connections,
    /// None for a server that wants none.
    key: Option<Credential>,
    headers: BTreeMap<String, String>,
}

impl ChatProvider {
    pub(crate) fn new(
        connections: Connections,
        key: Option<Credential>,
        headers: BTreeMap<String, String>,
    ) -> Self {
        Self {
            connections,
            key,
            headers,
        }
    }

    /// A server may repeat the key it refuses; nobody else needs to see it.
    fn without_key(&self, mut error: ProviderError) -> ProviderError {
        if let Some(Credential(key)) = &self.key
            && !key.is_empty()
        {
            error.message = error.message.replace(key.as_str(), "****");
        }
        error
    }

    async fn open(&self, request: Request<'_>) -> Result<ChatStream, ProviderError> {
        let options = self.options(&request);
        let response = self
            .connections
            .client
            .exec_chat_stream(
                self.target(request.model),
                chat_request::translate(&request),
                Some(&options),
            )
            .await
            .map_err(|error| explain(&error))?;
        Ok(response.stream)
    }

    /// Always complete: from a bare name the library would guess a provider.
    fn target(&self, model: &Model) -> ServiceTarget {
        let base = model.base_url.trim_end_matches('/');
        let key = self.key.as_ref().map_or("none", |key| key.0.as_str());
        ServiceTarget {
            endpoint: Endpoint::from_owned(format!("{base}/")),
            auth: AuthData::from_single(key),
            model: ModelIden::new(AdapterKind::OpenAI, model.id.as_str()),
        }
    }

    fn options(&self, request: &Request<'_>) -> ChatOptions {
        // Without capturing them, a piece of a call does not say which call it belongs to.
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_tool_calls(true);
        options.max_tokens = request
            .model
            .max_tokens
            .and_then(|tokens| u32::try_from(tokens).ok());
        options.reasoning_effort = Some(effort(request.model, request.thinking));
        if !self.headers.is_empty() {
            let headers: HashMap<String, String> = self.headers.clone().into_iter().collect();
            options.extra_headers = Some(Headers::from(headers));
        }
        options
    }
}

impl Provider for ChatProvider {
    fn stream<'a>(&'a self, request: Request<'a>) -> ChunkStream<'a> {
        let opened = stream::once(self.open(request));
        let chunks = opened.map_ok(chunks).try_flatten();
        Box::pin(chunks.map_err(|error| self.without_key(error)))
    }
}

/// Says nothing about thinking. Saying nothing at all would let the library look for a
/// level at the end of the model's name, and take it off: `qwen-max` would become `qwen`.
const UNSAID: ReasoningEffort = ReasoningEffort::Budget(0);

/// How hard to think, in the model's own words where `models.json` gives them.
fn effort(model: &Model, level: ThinkingLevel) -> ReasoningEffort {
    if !model.reasoning {
        return UNSAID;
    }
    let named = match model.thinking_levels.get(level.name()) {
        Some(None) => return UNSAID,
        Some(Some(own)) => own.as_str(),
        None => level.name(),
    };
    match named {
        "minimal" => ReasoningEffort::Minimal,
        "low" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" => ReasoningEffort::High,
        "xhigh" => ReasoningEffort::XHigh,
        "max" => ReasoningEffort::Max,
        _ => UNSAID,
    }
}

/// Turns the library's events into ours.
fn chunks(stream: ChatStream) -> impl futures_util::Stream<Item = Result<Chunk, ProviderError>> {
    let calls = OpenCalls::default();
    let waiting = VecDeque::new();
    stream::unfold(
        (stream, calls, waiting),
        |(mut stream, mut calls, mut waiting)| async move {
            loop {
                if let Some(chunk) = waiting.pop_front() {
                    return Some((Ok(chunk), (stream, calls, waiting)));
                }
                match stream.next().await? {
                    Ok(event) => waiting.extend(calls.translate(event)),
                    Err(error) => return Some((Err(explain(&error)), (stream, calls, waiting))),
                }
            }
        },
    )
}

/// Tool calls come whole again and again; this remembers how much of each was passed on.
#[derive(Default)]
struct OpenCalls {
    seen: Vec<(String, usize)>,
}

impl OpenCalls {
    fn translate(&mut self, event: ChatStreamEvent) -> Vec<Chunk> {
        match event {
            ChatStreamEvent::Chunk(chunk) if chunk.content.is_empty() => Vec::new(),
            ChatStreamEvent::Chunk(chunk) => vec![Chunk::Text(chunk.content)],
            ChatStreamEvent::ReasoningChunk(chunk) if chunk.content.is_empty() => Vec::new(),
            ChatStreamEvent::ReasoningChunk(chunk) => vec![Chunk::Thinking(chunk.content)],
            ChatStreamEvent::ToolCallChunk(chunk) => self.call(&chunk.tool_call),
            ChatStreamEvent::End(end) => vec![Chunk::Finished(finish(end))],
            ChatStreamEvent::Start
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::Heartbeat => Vec::new(),
        }
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let id = call.call_id.clone();
        let known = self.seen.iter().position(|(seen, _)| *seen == id);
        let at = known.unwrap_or_else(|| {
            chunks.push(Chunk::CallStart {
                id: id.clone(),
                name: call.fn_name.clone(),
            });
            self.seen.push((id.clone(), 0));
            self.seen.len() - 1
        });
        let arguments = match &call.fn_arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            object => object.to_string(),
        };
        let passed_on = &mut self.seen[at].1;
        if let Some(delta) = arguments
            .get(*passed_on..)
            .filter(|delta| !delta.is_empty())
        {
            chunks.push(Chunk::CallArguments {
                id,
                delta: delta.to_owned(),
            });
            *passed_on = arguments.len();
        }
        chunks
    }
}

fn finish(end: StreamEnd) -> Finish {
    let usage = end
        .captured_usage
        .map(|usage| usage_of(&usage))
        .unwrap_or_default();
    let stop = end.captured_stop_reason;
    let refusal = match &stop {
        Some(StopReason::ContentFilter(reason)) => {
            Some(format!("Provider finish_reason: {reason}"))
        }
        _ => None,
    };
    Finish {
        usage,
        reached_limit: matches!(stop, Some(StopReason::MaxTokens(_))),
        response_id: end.captured_response_id,
        raw_stop_reason: stop.map(raw),
        refusal,
    }
}

fn raw(stop: StopReason) -> String {
    match stop {
        StopReason::Completed(raw)
        | StopReason::MaxTokens(raw)
        | StopReason::ToolCall(raw)
        | StopReason::ContentFilter(raw)
        | StopReason::StopSequence(raw)
        | StopReason::Other(raw) => raw,
    }
}

/// The library counts cached tokens as part of the prompt; we count them apart, as pi does.
fn usage_of(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let prompt = usage.prompt_tokens_details.as_ref();
    let cache_read = count(prompt.and_then(|details| details.cached_tokens));
    let cache_write = count(prompt.and_then(|details| details.cache_creation_tokens));
    let output = count(usage.completion_tokens);
    let input = count(usage.prompt_tokens).saturating_sub(cache_read + cache_write);
    let details = usage.completion_tokens_details.as_ref();
    Usage {
        input,
        output,
        cache_read,
        cache_write,
        reasoning: Some(count(details.and_then(|details| details.reasoning_tokens))),
        total_tokens: input + output + cache_read + cache_write,
        cost: None,
    }
}
