//! Failures of a chat server, in a sentence.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::ProviderError;

/// Limits that no waiting lifts, although they come with status 429.
const USED_UP: [&str; 4] = [
    "insufficient_quota",
    "quota exceeded",
    "out of budget",
    "billing",
];

/// Errors in a stream that come again with the same request.
const OUR_FAULT: [&str; 6] = [
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "INVALID_ARGUMENT",
    "PERMISSION_DENIED",
];

/// Returns the error for a server that sent nothing for too long.
pub(super) fn silent() -> ProviderError {
    ProviderError::transient(
        "Request timed out: nothing came from the server for longer than httpIdleTimeoutMs.",
    )
}

/// Returns the error for a server that sent only heartbeats for too long.
pub(super) fn without_content() -> ProviderError {
    ProviderError::transient(
        "Request timed out: for six times httpIdleTimeoutMs the server sent heartbeats, but nothing of an answer.",
    )
}

/// Explains an error that came in the middle of a stream.
pub(super) fn in_stream(body: &Value) -> ProviderError {
    let said = message_in(body).unwrap_or_else(|| body.to_string());
    let message = format!("Provider returned error: {said}");
    let kinds = ["/error/type", "/type", "/error/status"];
    let is_ours = kinds.iter().any(|place| {
        let kind = body.pointer(place).and_then(Value::as_str);
        kind.is_some_and(|kind| OUR_FAULT.contains(&kind))
    });
    if is_ours {
        ProviderError::permanent(message)
    } else {
        ProviderError::transient(message)
    }
}

/// Explains the answer of a server that is no success.
pub(super) fn refused(status: u16, body: &str, headers: &HeaderMap) -> ProviderError {
    let parsed = serde_json::from_str::<Value>(body).ok();
    let said = parsed.as_ref().and_then(message_in);
    let said = said.unwrap_or_else(|| body.trim().to_owned());
    let said: String = said.chars().take(500).collect();
    let said = if said.is_empty() {
        "status code (no body)".to_owned()
    } else {
        said
    };
    let wait = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let wait = wait.and_then(|seconds: f64| match Duration::try_from_secs_f64(seconds) {
        Ok(wait) => Some(wait),
        // It is more than anybody can wait.
        Err(_) if seconds > 0.0 => Some(Duration::MAX),
        Err(_) => None,
    });
    let message = format!("{status}: {said}");
    if USED_UP.iter().any(|words| body.contains(words)) {
        return ProviderError::permanent(message);
    }
    ProviderError::status(status, message, wait)
}

/// Walks to the innermost cause, which is the only informative part.
pub(super) fn broken(error: &reqwest::Error) -> ProviderError {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let place = error
        .url()
        .map(|url| format!(" to {}", url.origin().ascii_serialization()));
    let message = format!("Connection error{}: {cause}", place.unwrap_or_default());
    if error.is_builder() {
        return ProviderError::permanent(message);
    }
    if is_refused(cause) && error.url().is_some_and(is_on_this_machine) {
        return ProviderError {
            most_retries: Some(REFUSED_HERE),
            ..ProviderError::transient(format!(
                "{message}. Nothing listens there; is that server running?"
            ))
        };
    }
    ProviderError::transient(message)
}

/// The number of times that a server of this machine is asked again that refuses connections. It may
/// be starting; a network that comes back is no reason to wait for it.
const REFUSED_HERE: u32 = 1;

fn is_refused(cause: &(dyn std::error::Error + 'static)) -> bool {
    let cause = cause.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::ConnectionRefused)
}

fn is_on_this_machine(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

fn message_in(body: &Value) -> Option<String> {
    let places = ["/error/message", "/message", "/error", "/detail"];
    let mut texts = places
        .iter()
        .filter_map(|place| body.pointer(place)?.as_str());
    texts.next().map(str::to_owned)
}
