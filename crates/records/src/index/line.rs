//! The lines of the index. Which kind a line is shows by the fields it has.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::OwnerName;
use crate::run_figures::Used;

/// A run begins.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BeginLine<'a> {
    pub(super) run: &'a str,
    pub(super) session: &'a str,
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preset: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) directory: &'a Path,
    pub(super) project: &'a Path,
    pub(super) accepted_at: String,
    pub(super) sequence: u64,
    pub(super) owner: &'a OwnerName,
}

/// A run is over.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndLine<'a> {
    pub(super) run: &'a str,
    pub(super) status: &'a str,
    pub(super) exit_code: i32,
    pub(super) ended_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) used: Option<Used>,
}

/// A run was removed together with its record.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemovedLine<'a> {
    pub(super) run: &'a str,
    pub(super) removed_at: String,
    pub(super) session: &'a str,
    pub(super) name: &'a str,
    pub(super) directory: &'a Path,
}

/// A line that was read, of any kind. After some years there are very many, so nothing is copied
/// that is not kept.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IndexLine<'a> {
    #[serde(borrow)]
    pub(super) run: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) session: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) preset: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) directory: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) project: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) accepted_at: Cow<'a, str>,
    #[serde(default)]
    pub(super) sequence: u64,
    pub(super) owner: Option<OwnerName>,
    #[serde(borrow, default)]
    pub(super) status: Cow<'a, str>,
    #[serde(default)]
    pub(super) exit_code: i32,
    #[serde(borrow, default)]
    pub(super) ended_at: Cow<'a, str>,
    pub(super) used: Option<Used>,
    #[serde(borrow, default)]
    pub(super) removed_at: Cow<'a, str>,
}

/// The statement of a line about its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Begin,
    End,
    Removed,
}

impl<'a> IndexLine<'a> {
    /// Parses a line; `None` if it is torn or spoilt.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    pub(super) fn kind(&self) -> Kind {
        if self.owner.is_some() {
            Kind::Begin
        } else if self.removed_at.is_empty() {
            Kind::End
        } else {
            Kind::Removed
        }
    }
}

/// Returns the run and the kind of a line that this program wrote, read from the beginning of the
/// line alone.
pub(super) fn beginning_of(line: &str) -> Option<(&str, Kind)> {
    let (run, rest) = line.strip_prefix(r#"{"run":""#)?.split_once('"')?;
    let kinds = [
        (r#","session":""#, Kind::Begin),
        (r#","status":""#, Kind::End),
        (r#","removedAt":""#, Kind::Removed),
    ];
    let kind = kinds.iter().find(|(field, _)| rest.starts_with(field));
    kind.map(|(_, kind)| (run, *kind))
}

/// Returns the hash of a run id, for maps of all runs: the ids themselves would be many megabytes. Two
/// of a million runs have the same hash in one of forty million indexes.
pub(super) fn hash_of(run: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    hasher.finish()
}
