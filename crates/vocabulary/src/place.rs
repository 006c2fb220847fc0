//! The place where a call does its work: this machine, or the workers of a fleet.

use serde::{Deserialize, Serialize};

/// The place where the runs of a call work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// On this machine.
    Local,
    /// On a worker of the fleet.
    Fleet {
        /// The pool that was named; otherwise the pool of the settings counts.
        pool: Option<String>,
    },
}

/// The urgency of a call's runs among the runs that are queued in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Before all others.
    High,
    /// Before the runs of low priority.
    Normal,
    /// The runs are done when nothing else is queued.
    Low,
}

/// The way in which the files of a project get to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceChoice {
    /// As git objects: the last commits and a snapshot of the uncommitted files.
    Bundle,
    /// Not at all: the worker clones the commit from its origin, with its own credentials.
    Clone,
    /// Not at all: the worker sees the same directory under the same path.
    Shared,
    /// Not at all: the run works in an empty directory.
    None,
}

/// The longest name of a pool or a worker.
const LONGEST_NAME: usize = 32;

/// Returns whether a name can be that of a pool or a worker: it becomes a part of a subject and of
/// the name of a consumer.
pub fn fits_fleet_name(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_fine)
}

impl Place {
    /// Reads `local`, `fleet` or `fleet:POOL`.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.split_once(':') {
            None if word == "local" => Some(Self::Local),
            None if word == "fleet" => Some(Self::Fleet { pool: None }),
            Some(("fleet", pool)) if fits_fleet_name(pool) => Some(Self::Fleet {
                pool: Some(pool.to_owned()),
            }),
            Some(_) | None => None,
        }
    }
}

impl Priority {
    /// All priorities, the most urgent first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// Reads the word for a priority.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }

    /// Returns the word for this priority.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }
}

impl WorkspaceChoice {
    /// All choices.
    pub const ALL: [Self; 4] = [Self::Bundle, Self::Clone, Self::Shared, Self::None];

    /// Reads the word for a choice.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }

    /// Returns the word for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Clone => "clone",
            Self::Shared => "shared",
            Self::None => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_place_is_local_or_a_fleet_with_a_pool() {
        let fleet = |pool: &str| Place::Fleet {
            pool: Some(pool.to_owned()),
        };
        let read = [
            "local",
            "fleet",
            "fleet:gpu-2",
            "fleet:",
            "fleet:a.b",
            "here",
            "local:a",
        ];
        let read = read.map(Place::from_word);
        let expected = [
            Some(Place::Local),
            Some(Place::Fleet { pool: None }),
            Some(fleet("gpu-2")),
            None,
            None,
            None,
            None,
        ];
        assert_eq!(read, expected);
        assert_eq!(Place::from_word(&format!("fleet:{}", "a".repeat(33))), None);
    }
}
