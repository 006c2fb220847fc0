//! The wire formats of the agent.

/// A wire format, by pi's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// `openai-completions`
    Completions,
    /// `openai-responses`
    Responses,
    /// `anthropic-messages`
    Messages,
    /// `google-generative-ai`
    Google,
}

impl Wire {
    /// Returns the format that pi calls `api`, if we know it.
    pub(crate) fn named(api: &str) -> Option<Self> {
        match api {
            "openai-completions" => Some(Self::Completions),
            "openai-responses" => Some(Self::Responses),
            "anthropic-messages" => Some(Self::Messages),
            "google-generative-ai" => Some(Self::Google),
            _ => None,
        }
    }
}
