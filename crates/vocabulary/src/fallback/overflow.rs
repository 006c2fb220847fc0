//! Recognizes whether a failure means that the conversation is too long for the model.

/// Phrases by which servers report that a prompt does not fit, in lower case.
///
/// Every provider has phrases of its own; these are the phrases that pi knows too.
const TOO_LONG: [&str; 22] = [
    "prompt is too long",
    "prompt too long",
    "request_too_large",
    "input is too long",
    "exceeds the context window",
    "maximum context length",
    "exceeds the maximum number of tokens",
    "maximum prompt length",
    "reduce the length of the messages",
    "maximum allowed input length",
    "longer than the model's context length",
    "exceeds the limit of",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    "configured context size",
    "context_length_exceeded",
    "context length exceeded",
    "model_context_window_exceeded",
    "range of input length should be",
    "too many tokens",
];

/// Phrases that mean a limit in time instead, even beside the phrases above.
const TOO_OFTEN: [&str; 3] = ["rate limit", "too many requests", "throttling"];

/// Returns whether an error message means that the prompt did not fit.
pub fn is_overflow(message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    says(&TOO_LONG) && !says(&TOO_OFTEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_is_not_too_often() {
        for message in [
            "400: prompt is too long: 213462 tokens > 200000 maximum",
            "400: This model's maximum context length is 8192 tokens.",
            "400: The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "400: the request exceeds the available context size, try increasing it",
        ] {
            assert!(is_overflow(message), "{message}");
        }
        for message in [
            "429: Rate limit reached: too many tokens per minute",
            "500: Internal Server Error",
        ] {
            assert!(!is_overflow(message), "{message}");
        }
    }
}
