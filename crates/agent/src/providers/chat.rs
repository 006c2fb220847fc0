//! Real models, over HTTP.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use pi_subagents_vocabulary::WINDOW_HEADERS;
use reqwest::Response;
use reqwest::header::HeaderMap;
use tracing::{debug, warn};

use super::answer_stream::answer;
use super::post::Post;
use super::{Chunk, ChunkStream, Connections, Provider, ProviderError, Request};
use crate::message::Message;
use crate::models::{Credential, Wire};

/// Shorter words of a header are no keys, and an error may well contain them.
const KEY_LENGTH: usize = 16;

/// A shorter key is a placeholder, such as `none` for a local server, and may be a part of any word.
const PLACEHOLDER_LENGTH: usize = 8;

/// Masks a key wherever it is in a text; a short key only where it is a whole word.
fn masked(text: &str, key: &str) -> String {
    const MASK: &str = "****";
    if key.len() >= PLACEHOLDER_LENGTH {
        return text.replace(key, MASK);
    }
    let mut parts = text.split(key);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_in_word =
            shown.ends_with(char::is_alphanumeric) || part.starts_with(char::is_alphanumeric);
        shown.push_str(if is_in_word { key } else { MASK });
        shown.push_str(part);
    }
    shown
}

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
            error.message = masked(&error.message, secret);
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
            let windows = windows_of(response.headers()).map(Chunk::Windows).map(Ok);
            let answer = answer(response, reader, self.patience);
            Ok(stream::iter(windows).chain(answer))
        });
        let chunks = opened.try_flatten();
        Box::pin(chunks.map(|chunk| chunk.map_err(|error| self.without_keys(error))))
    }
}

/// Returns the headers that tell how much of the provider's windows is used, if there are any.
fn windows_of(headers: &HeaderMap) -> Option<BTreeMap<String, String>> {
    let told = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str();
        let tells = WINDOW_HEADERS.iter().any(|begin| name.starts_with(begin));
        Some((
            name.to_owned(),
            value.to_str().ok().filter(|_| tells)?.to_owned(),
        ))
    });
    let told: BTreeMap<String, String> = told.collect();
    (!told.is_empty()).then_some(told)
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

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::masked;

    #[test]
    fn a_short_key_is_masked_only_as_a_word_of_its_own() {
        assert_eq!(
            masked("Check the key 'k', k.", "k"),
            "Check the key '****', ****."
        );
        assert_eq!(masked("token=sk-secret1x", "sk-secret1"), "token=****x");
    }
}
