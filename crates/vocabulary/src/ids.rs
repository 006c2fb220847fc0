//! Ids of runs and sessions: newtypes that are always safe as a file name.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of one run. It reads as the time its run was accepted, by the clock of that moment; the
/// order of runs is that of the index, not that of their ids.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Arc<str>);

/// The id that the runs of one session share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Arc<str>);

/// A text that cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an id: it must have 1 to 64 letters, digits, \"_\" or \"-\"")]
pub struct BadId(String);

impl BadId {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl RunId {
    /// Makes the id of a run accepted at `at`; `random` keeps runs of one millisecond apart.
    pub fn new(at: Timestamp, random: u32) -> Self {
        let time = at.strftime("%Y%m%d-%H%M%S");
        let millisecond = at.subsec_millisecond();
        let random = random & 0x00ff_ffff;
        Self(format!("{time}-{millisecond:03}-{random:06x}").into())
    }

    /// Reads an id that was made before.
    pub fn parse(text: &str) -> Result<Self, BadId> {
        checked(text).map(Self)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    /// Makes a session id of 16 hex digits.
    pub fn new(random: u64) -> Self {
        Self(format!("{random:016x}").into())
    }

    /// Reads an id that was made before or that a caller chose.
    pub fn parse(text: &str) -> Result<Self, BadId> {
        checked(text).map(Self)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RunId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        Self::parse(&text)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.as_str().to_owned()
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        Self::parse(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.as_str().to_owned()
    }
}

/// Returns whether a text can be an id, and so a file name.
fn fits_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

pub(crate) fn checked(text: &str) -> Result<Arc<str>, BadId> {
    if fits_id(text) {
        Ok(text.into())
    } else {
        Err(BadId(text.to_owned()))
    }
}

/// Lets a map of runs be asked with the text of an id.
impl Borrow<str> for RunId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_sort_by_time_and_read_as_a_date() {
        let early: Timestamp = "2026-11-15T19:46:32.007Z".parse().unwrap();
        let late: Timestamp = "2026-11-15T19:46:32.100Z".parse().unwrap();
        assert_eq!(
            RunId::new(early, 0xff12_3abc).as_str(),
            "20261115-194632-007-123abc"
        );
        assert!(RunId::new(early, 0xffff_ffff) < RunId::new(late, 0));
    }

    #[test]
    fn an_id_is_always_safe_as_a_file_name() {
        for bad in ["", "..", "a/b", "a b", "é", &"a".repeat(65)] {
            assert!(SessionId::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(SessionId::new(0xa3).as_str(), "00000000000000a3");
        assert_eq!(SessionId::parse("Ab_-9").unwrap().as_str(), "Ab_-9");
    }
}
