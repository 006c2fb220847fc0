//! The differences between the wire formats: body, reader, address and headers.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::answer_stream::AnswerReader;
use super::{Request, completions, google, messages, responses};
use crate::models::{Credential, Wire};

const ANTHROPIC_VERSION: &str = "2023-06-01";
/// The header in which Cloudflare's gateway wants its key; no other header may hold it then.
pub(crate) const GATEWAY_KEY: &str = "cf-aig-authorization";
/// Without it Anthropic takes no token of a login.
const ANTHROPIC_LOGIN: &str = "oauth-2025-04-20";

impl Wire {
    /// Returns the body of a request.
    pub(super) fn body(self, request: &Request<'_>) -> Value {
        Value::Object(match self {
            Self::Completions => completions::body(request),
            Self::Responses => responses::body(request),
            Self::Messages => messages::body(request),
            Self::Google => google::body(request),
        })
    }

    /// Returns the reader of an answer; `known_calls` are the ids that the conversation has already.
    pub(super) fn reader(self, known_calls: HashSet<String>) -> Box<dyn AnswerReader> {
        match self {
            Self::Completions => Box::new(completions::Reader::new(known_calls)),
            Self::Responses => Box::new(responses::Reader::new(known_calls)),
            Self::Messages => Box::new(messages::Reader::new(known_calls)),
            Self::Google => Box::new(google::Reader::new(known_calls)),
        }
    }

    /// Returns the address that a request of a model goes to.
    pub(super) fn url(self, base: &str, model: &str) -> String {
        let base = base.trim_end_matches('/');
        match self {
            Self::Completions => format!("{base}/chat/completions"),
            Self::Responses => format!("{base}/responses"),
            // Pi's addresses of this format end before the version, others' after it.
            Self::Messages if base.ends_with("/v1") => format!("{base}/messages"),
            Self::Messages => format!("{base}/v1/messages"),
            Self::Google => format!("{base}/models/{model}:streamGenerateContent?alt=sse"),
        }
    }

    /// Returns the headers of the format, overridden by those of the configuration.
    pub(super) fn headers(
        self,
        key: Option<&Credential>,
        own: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let key = key.filter(|_| !own.contains_key(GATEWAY_KEY));
        let mut headers = BTreeMap::new();
        let mut set = |name: &str, value: String| headers.insert(name.to_lowercase(), value);
        if self == Self::Messages {
            set("anthropic-version", ANTHROPIC_VERSION.to_owned());
        }
        match (self, key) {
            (_, None) => {}
            (Self::Messages, Some(Credential::Key(key))) => {
                set("x-api-key", key.clone());
            }
            (Self::Google, Some(Credential::Key(key))) => {
                set("x-goog-api-key", key.clone());
            }
            (_, Some(key)) => {
                set("authorization", format!("Bearer {}", key.secret()));
                if self == Self::Messages {
                    set("anthropic-beta", ANTHROPIC_LOGIN.to_owned());
                }
            }
        }
        for (name, value) in own {
            set(name, value.clone());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_pi() {
        let urls = [
            Wire::Completions.url("http://h/v1", "m"),
            Wire::Responses.url("http://h/v1", "m"),
            Wire::Messages.url("http://h", "m"),
            Wire::Messages.url("http://h/v1", "m"),
            Wire::Google.url("http://h/v1beta", "m"),
        ];
        assert_eq!(
            urls,
            [
                "http://h/v1/chat/completions",
                "http://h/v1/responses",
                "http://h/v1/messages",
                "http://h/v1/messages",
                "http://h/v1beta/models/m:streamGenerateContent?alt=sse",
            ]
        );
    }
}
