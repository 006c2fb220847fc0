//! The kinds of failures of a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a model's failure. It decides whether another model may take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FailureClass {
    /// The money, the credits or the allowance of the user is used up; waiting seconds does not
    /// help.
    Quota,
    /// Too many requests, a server that is overloaded or fails, or a lost connection. The child
    /// asks again by itself first.
    Busy,
    /// The model, its provider or its key is not there.
    Unavailable,
    /// The provider refused the key.
    KeyRefused,
    /// The conversation does not fit. The child shortens it; another model is no answer.
    TooLong,
    /// The provider refused the request itself. Another model would refuse it too, or would answer
    /// under another policy.
    Refused,
    /// A failure of an unknown kind.
    Unknown,
}

impl FailureClass {
    /// Returns whether another model may take over.
    pub fn lets_another_try(self) -> bool {
        match self {
            Self::Quota | Self::Busy | Self::Unavailable | Self::KeyRefused => true,
            Self::TooLong | Self::Refused | Self::Unknown => false,
        }
    }

    /// Returns whether a model with this failure rests for a while. A missing model and a refused
    /// key do not heal with time, but as soon as somebody mends them.
    pub fn rests(self) -> bool {
        match self {
            Self::Quota | Self::Busy => true,
            Self::Unavailable
            | Self::KeyRefused
            | Self::TooLong
            | Self::Refused
            | Self::Unknown => false,
        }
    }

    /// Returns what happened to a model, as the end of a sentence.
    pub(super) fn past(self) -> &'static str {
        match self {
            Self::Quota => "was out of quota",
            Self::Busy => "was overloaded",
            Self::Unavailable => "was not available",
            Self::KeyRefused => "refused its key",
            Self::TooLong | Self::Refused | Self::Unknown => "failed",
        }
    }
}
