//! Real models, over HTTP.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::Response;
use tracing::{debug, warn};

use super::answering::answer;
use super::post::Post;
use super::{ChunkStream, Connections, Provider, ProviderError, Request};
use crate::message::Message;
use crate::models::{Credential, Wire};

/// Shorter words of a header are no keys, and an error may well contain them.
const KEY_LENGTH: usize = 16;

/// Asks one provider with one key.
pub(crate) struct ChatProvider {
    pub(crate) wire: Wire,
    pub(crate) connections: Connections,
    /// `None` for a server that wants no key.
    pub(crate) key: Option<Credential>,
    pub(crate) headers: BTreeMap<String, String>,
    /// The time for which nothing may come; `None` waits for ever.
    pub(crate) patience: Option<Duration>,
}

impl ChatProvider {
    /// Takes the keys out of an error, because a server may repeat a key that it refuses.
    fn without_keys(&self, mut error: ProviderError) -> ProviderError {
        let key = self.key.iter().map(Credential::secret);
        // A gateway gets its key in a header of its own, such as `Bearer KEY`.
        let words = self.headers.values().flat_map(|value| value.split(' '));
        let in_headers = words.filter(|word| word.len() >= KEY_LENGTH);
        for secret in key.chain(in_headers).filter(|secret| !secret.is_empty()) {
            error.message = error.message.replace(secret, "****");
        }
        error
    }

    async fn post(&self, request: &Request<'_>) -> Result<Response, ProviderError> {
        let post = Post {
            url: self.wire.url(&request.model.base_url, &request.model.id),
            headers: self.wire.headers(self.key.as_ref(), &self.headers),
            body: self.wire.body(request),
            patience: self.patience,
            connections: &self.connections,
        };
        let (provider, model) = (&request.model.provider, &request.model.id);
        let messages = request.messages.len();
        debug!(provider, model, messages, "model is asked");
        let answered = post.send().await;
        if let Err(error) = &answered {
            let is_transient = error.is_transient;
            warn!(provider, model, is_transient, "model did not answer");
        }
        answered
    }
}

impl Provider for ChatProvider {
    fn stream<'a>(&'a self, request: Request<'a>) -> ChunkStream<'a> {
        let opened = stream::once(async move {
            let response = self.post(&request).await?;
            let reader = self.wire.reader(call_ids(&request));
            Ok(answer(response, reader, self.patience))
        });
        let chunks = opened.try_flatten();
        Box::pin(chunks.map(|chunk| chunk.map_err(|error| self.without_keys(error))))
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
