//! Finds the kind of a model's failure in its message: by status and code first, by words last.

use std::time::Duration;

use super::{FailureClass, is_overflow, wait};

/// A failure of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFailure {
    /// Its kind.
    pub class: FailureClass,
    /// The failure in a few words: `429, usage limit`.
    pub reason: String,
    /// How long the provider says that one should wait, if it does.
    pub wait: Option<Duration>,
}

/// Codes of limits that no waiting of seconds lifts.
const QUOTA_CODES: [&str; 6] = [
    "insufficient_quota",
    "usage_limit_reached",
    "usage_limit_exceeded",
    "billing_hard_limit_reached",
    "credit_balance",
    "quota_exceeded",
];

/// Words about such limits.
const QUOTA_WORDS: [&str; 8] = [
    "usage limit",
    "quota",
    "out of credits",
    "insufficient credits",
    "credit balance",
    "out of budget",
    "billing",
    "spending limit",
];

/// Codes and words about a request that the provider does not want to answer.
const FILTER_WORDS: [&str; 6] = [
    "content_filter",
    "content filter",
    "content_policy",
    "content policy",
    "prohibited_content",
    "blocked by safety",
];

/// Codes and words about a model or a provider that is not there.
const MISSING_WORDS: [&str; 10] = [
    "model_not_found",
    "model not found",
    "not a valid model",
    "does not exist",
    "unknown model",
    "unknown provider",
    "no api key",
    "no key for",
    "no credentials",
    "needs the environment variable",
];

/// Codes of keys that are refused.
const KEY_CODES: [&str; 4] = [
    "authentication_error",
    "invalid_api_key",
    "invalid x-api-key",
    "unauthenticated",
];

/// Codes and words about a server that cannot answer now.
const BUSY_WORDS: [&str; 17] = [
    "overloaded",
    "rate_limit",
    "rate limit",
    "too many requests",
    "resource_exhausted",
    "internal server error",
    "service unavailable",
    "connection",
    "timed out",
    "timeout",
    "terminated",
    "fetch failed",
    "socket",
    "other side closed",
    "stream ended",
    "econn",
    "network",
];

impl ModelFailure {
    /// Reads the message of a failure, as pi and the embedded agent word it: the status, a colon,
    /// and what the provider said.
    pub fn read(message: &str) -> Self {
        let lower = message.to_lowercase();
        let status = status_in(&lower);
        let class = class_of(status, &lower);
        Self {
            class,
            reason: reason(status, class, &lower),
            wait: wait::wait_in(&lower),
        }
    }
}

fn class_of(status: Option<u16>, lower: &str) -> FailureClass {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is_overflow(lower) {
        return FailureClass::TooLong;
    }
    if status == Some(402) || says(&QUOTA_CODES) {
        return FailureClass::Quota;
    }
    match status {
        Some(401) => FailureClass::KeyRefused,
        Some(403 | 429) if says(&QUOTA_WORDS) => FailureClass::Quota,
        Some(400..=499) | None if says(&FILTER_WORDS) => FailureClass::Refused,
        Some(403 | 404) => FailureClass::Unavailable,
        Some(400 | 422) if lower.contains("credit balance") => FailureClass::Quota,
        Some(400 | 422) if says(&MISSING_WORDS) => FailureClass::Unavailable,
        Some(408 | 425 | 429 | 500..=599) => FailureClass::Busy,
        Some(_) => FailureClass::Refused,
        None if says(&KEY_CODES) => FailureClass::KeyRefused,
        None if says(&MISSING_WORDS) => FailureClass::Unavailable,
        None if says(&BUSY_WORDS) => FailureClass::Busy,
        None if says(&QUOTA_WORDS) => FailureClass::Quota,
        None => FailureClass::Unknown,
    }
}

/// Returns the status of an answer: a number at the beginning, or behind one of the words by which
/// libraries announce it.
fn status_in(lower: &str) -> Option<u16> {
    let announced = [
        "status code ",
        "status: ",
        "error code: ",
        "http ",
        "api error (",
        "\"status\":",
        "\"code\":",
    ];
    let behind = announced.iter().filter_map(|word| {
        let place = lower.find(word)?;
        lower.get(place + word.len()..)
    });
    let texts = std::iter::once(lower).chain(behind);
    texts.map(str::trim_start).find_map(leading_status)
}

fn leading_status(text: &str) -> Option<u16> {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    let digits = text.get(..end.unwrap_or(text.len()))?;
    let status = digits.parse().ok()?;
    (400..600).contains(&status).then_some(status)
}

fn reason(status: Option<u16>, class: FailureClass, lower: &str) -> String {
    let words = match class {
        FailureClass::Quota if lower.contains("usage limit") || lower.contains("usage_limit") => {
            "usage limit"
        }
        FailureClass::Quota => "out of quota",
        FailureClass::Busy if status == Some(429) || lower.contains("rate") => "rate limit",
        FailureClass::Busy if status.is_some() || lower.contains("overloaded") => "overloaded",
        FailureClass::Busy => "connection lost",
        FailureClass::Unavailable if lower.contains("key") => "no key",
        FailureClass::Unavailable => "not available",
        FailureClass::KeyRefused => "key refused",
        FailureClass::TooLong => "too long",
        FailureClass::Refused => "refused",
        FailureClass::Unknown => "failed",
    };
    match status {
        Some(status) => format!("{status}, {words}"),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_kind_of_a_failure_is_found_by_status_and_code_first() {
        use FailureClass::{Busy, KeyRefused, Quota, Refused, TooLong, Unavailable, Unknown};
        let table = [
            // As pi 0.87.1 words it.
            (
                "429: {\"message\":\"The usage limit has been reached\",\"type\":\"usage_limit_reached\",\"code\":\"rate_limit_exceeded\"}",
                Quota,
                "429, usage limit",
            ),
            // As pi words it for OpenAI's responses.
            (
                "one API error (429): {\"message\":\"The usage limit has been reached\",\"type\":\"rate_limit_error\"}",
                Quota,
                "429, usage limit",
            ),
            // As pi words it for Google.
            (
                "{\"error\":{\"code\":429,\"message\":\"The usage limit has been reached\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
                Quota,
                "429, usage limit",
            ),
            (
                "OpenAI API error (503): {\"message\":\"busy\"}",
                Busy,
                "503, overloaded",
            ),
            ("429: Rate limit reached", Busy, "429, rate limit"),
            (
                "429: You exceeded your current quota, please check your plan and billing details.",
                Quota,
                "429, out of quota",
            ),
            (
                "429 {\"error\":{\"code\":\"insufficient_quota\"}}",
                Quota,
                "429, out of quota",
            ),
            ("402: Insufficient credits", Quota, "402, out of quota"),
            (
                "400: Your credit balance is too low to access the Anthropic API.",
                Quota,
                "400, out of quota",
            ),
            (
                "403: This request would exceed your organization's spending limit",
                Quota,
                "403, out of quota",
            ),
            ("503: Service Unavailable", Busy, "503, overloaded"),
            (
                "529: {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}",
                Busy,
                "529, overloaded",
            ),
            ("500: status code (no body)", Busy, "500, overloaded"),
            (
                "500: the quota of file handles is used up",
                Busy,
                "500, overloaded",
            ),
            ("Provider returned error: Overloaded", Busy, "overloaded"),
            (
                "Connection error to http://127.0.0.1:9: connection refused",
                Busy,
                "connection lost",
            ),
            ("terminated", Busy, "connection lost"),
            ("401: invalid x-api-key", KeyRefused, "401, key refused"),
            (
                "authentication_error: token expired",
                KeyRefused,
                "key refused",
            ),
            (
                "404: The model `gpt-9` does not exist",
                Unavailable,
                "404, not available",
            ),
            (
                "403: You do not have access to this model",
                Unavailable,
                "403, not available",
            ),
            (
                "400: gpt-9 is not a valid model ID",
                Unavailable,
                "400, not available",
            ),
            ("Model not found: fb/nope", Unavailable, "not available"),
            ("No API key found for anthropic.", Unavailable, "no key"),
            (
                "400: messages: at least one message is required",
                Refused,
                "400, refused",
            ),
            (
                "400: {\"code\":\"content_filter\"}",
                Refused,
                "400, refused",
            ),
            ("403: Blocked by safety settings", Refused, "403, refused"),
            ("Provider finish_reason: content_filter", Refused, "refused"),
            (
                "400: prompt is too long: 213462 tokens > 200000 maximum",
                TooLong,
                "400, too long",
            ),
            ("something odd", Unknown, "failed"),
            ("", Unknown, "failed"),
        ];
        for (message, class, reason) in table {
            let failure = ModelFailure::read(message);
            assert_eq!(
                (failure.class, failure.reason.as_str()),
                (class, reason),
                "{message}"
            );
        }
    }

    #[test]
    fn a_status_stands_at_the_beginning_or_behind_its_word() {
        for (message, status) in [
            ("429: x", Some(429)),
            ("request failed with status code 503", Some(503)),
            ("Error code: 404 - nothing", Some(404)),
            ("{\"status\": 529}", Some(529)),
            ("4290: x", None),
            ("file 429.txt is missing", None),
        ] {
            assert_eq!(status_in(&message.to_lowercase()), status, "{message}");
        }
    }
}
