//! Ids, times and states in JSON: each is one text.

use std::borrow::Cow;

use pi_subagents_vocabulary::{RunId, SessionId, Status, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// A value that is one text in JSON.
pub(crate) trait AsText: Sized {
    /// Returns the text.
    fn to_text(&self) -> Cow<'_, str>;

    /// Reads the text; `None` if it is no such value.
    fn from_text(text: &str) -> Option<Self>;
}

pub(crate) fn serialize<T: AsText, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_text())
}

pub(crate) fn deserialize<'de, T: AsText, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    T::from_text(&text).ok_or_else(|| D::Error::custom(format!("\"{text}\" does not fit")))
}

/// The same for values that may be missing.
pub(crate) mod optional {
    use serde::{Deserializer, Serializer};

    use super::AsText;

    #[expect(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<T: AsText, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T: AsText, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

impl AsText for RunId {
    fn to_text(&self) -> Cow<'_, str> {
        self.as_str().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl AsText for SessionId {
    fn to_text(&self) -> Cow<'_, str> {
        self.as_str().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl AsText for Timestamp {
    fn to_text(&self) -> Cow<'_, str> {
        self.to_string().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl AsText for Status {
    fn to_text(&self) -> Cow<'_, str> {
        self.as_str().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let all = [
            Self::Queued,
            Self::Running,
            Self::Completed,
            Self::Failed,
            Self::Aborted,
        ];
        all.into_iter().find(|status| status.as_str() == text)
    }
}
