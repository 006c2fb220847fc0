//! Real models, through `genai` on our own HTTP client.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use genai::chat::{ChatOptions, ChatStream};
use serde_json::Value;

use super::chat_errors::explain;
use super::chunks::chunks;
use super::effort::effort;
use super::witness::Witness;
use super::{ChunkStream, Connections, Provider, ProviderError, Request, Wire, chat_request};
use crate::message::Message;
use crate::models::Credential;

/// Speaks to one provider with one key.
pub(crate) struct ChatProvider {
    pub(crate) wire: Wire,
    pub(crate) connections: Connections,
    /// None for a server that wants none.
    pub(crate) key: Option<Credential>,
    pub(crate) headers: BTreeMap<String, String>,
    /// How long nothing may come; None waits for ever.
    pub(crate) patience: Option<Duration>,
}

impl ChatProvider {
    /// A server may repeat the key it refuses; nobody else needs to see it.
    fn without_key(&self, mut error: ProviderError) -> ProviderError {
        let secrets = self.key.iter().map(Credential::secret);
        for secret in secrets.filter(|secret| !secret.is_empty()) {
            error.message = error.message.replace(secret, "****");
        }
        error
    }

    async fn open(
        &self,
        request: &Request<'_>,
        witness: Arc<Witness>,
    ) -> Result<ChatStream, ProviderError> {
        let options = self.options(request, witness);
        let target = self
            .wire
            .target(request.model, self.key.as_ref(), &self.headers);
        let chat = chat_request::translate(self.wire, request);
        let client = &self.connections.client;
        let response = client.exec_chat_stream(target, chat, Some(&options)).await;
        Ok(response.map_err(|error| explain(&error))?.stream)
    }

    fn options(&self, request: &Request<'_>, witness: Arc<Witness>) -> ChatOptions {
        let mut said = effort(self.wire, request.model, request.thinking);
        // Without capturing them, a piece of a call does not say which call it belongs to.
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_tool_calls(true)
            .with_capture_reasoning_content(said.shows_thoughts)
            .with_raw_frame_sink_arc(witness);
        options.max_tokens = request
            .max_tokens
            .and_then(|tokens| u32::try_from(tokens).ok());
        if self.wire == Wire::Completions
            && let (Some(field), Some(tokens)) =
                (&request.model.compat.max_tokens_field, options.max_tokens)
        {
            options.max_tokens = None;
            said.body.insert(field.clone(), tokens.into());
        }
        options.reasoning_effort = Some(said.level);
        options.stream_header_timeout = self.patience;
        options.stream_read_timeout = self.patience;
        if !said.body.is_empty() {
            options.extra_body = Some(Value::Object(said.body));
        }
        options
    }
}

impl Provider for ChatProvider {
    fn stream<'a>(&'a self, request: Request<'a>) -> ChunkStream<'a> {
        let witness = Arc::new(Witness::new(self.wire));
        let known = call_ids(&request);
        let watching = Arc::clone(&witness);
        let opened = stream::once(async move { self.open(&request, witness).await });
        let chunks = opened
            .map_ok(move |stream| chunks(self.wire, stream, watching.clone(), known.clone()))
            .try_flatten();
        Box::pin(chunks.map(|chunk| chunk.map_err(|error| self.without_key(error))))
    }
}

fn call_ids(request: &Request<'_>) -> HashSet<String> {
    let answers = request
        .messages
        .iter()
        .filter_map(|one| Message::as_assistant(one));
    answers
        .flat_map(|answer| answer.tool_calls().map(|call| call.id.clone()))
        .collect()
}
