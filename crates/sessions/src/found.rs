//! What an id stands for, among the runs of the index.

use std::io;
use std::path::PathBuf;

use pi_subagents_delegation::{RunId, SessionId};

use crate::index::IndexedRun;

/// What an id stands for.
#[derive(Debug, Clone)]
pub enum Found {
    /// One run.
    Run(IndexedRun),
    /// A session with its runs, oldest first.
    Session(SessionId, Vec<IndexedRun>),
}

impl Found {
    /// Returns the runs that the id stands for, oldest first.
    pub fn into_runs(self) -> Vec<IndexedRun> {
        match self {
            Self::Run(run) => vec![run],
            Self::Session(_, runs) => runs,
        }
    }
}

/// Why an id leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing begins with it.
    #[error("no run and no session begins with \"{0}\"")]
    NotFound(String),
    /// Several begin with it.
    #[error(
        "\"{prefix}\" is the beginning of several ids: {}",
        some_of(candidates)
    )]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// What begins with it.
        candidates: Vec<String>,
    },
    /// Several conversations share this session id.
    #[error("\"{session}\" names {} sessions: {}", conversations.len(), agents(conversations))]
    Shared {
        /// What was asked for.
        session: String,
        /// What it may mean.
        conversations: Vec<Conversation>,
    },
    /// The index cannot be read.
    #[error("could not read {path}")]
    Unreadable {
        /// The index.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// One of several conversations with the same session id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The agent that works in it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// The latest run of it.
    pub latest: RunId,
}

fn agents(conversations: &[Conversation]) -> String {
    let agents: Vec<&str> = conversations.iter().map(|one| one.agent.as_str()).collect();
    format!("one of {}", agents.join(", one of "))
}

/// Lists as many ids as a person reads, and how many more there are.
fn some_of(ids: &[String]) -> String {
    match ids.split_at_checked(5) {
        Some((first, rest @ [_, ..])) => format!("{} and {} more", first.join(", "), rest.len()),
        Some(_) | None => ids.join(", "),
    }
}

/// Finds a run or a session by its id or by the unique beginning of it.
pub fn find(runs: &[IndexedRun], prefix: &str) -> Result<Found, FindError> {
    let id = whole_id(runs, prefix)?;
    let of_session = session_of(runs, |session| session.as_str() == id);
    if let Some(first) = of_session.first() {
        return Ok(Found::Session(first.session.clone(), of_session));
    }
    let run = runs.iter().find(|run| run.run.as_str() == id);
    run.cloned()
        .map(Found::Run)
        .ok_or_else(|| FindError::NotFound(prefix.to_owned()))
}

/// Returns the runs of a session in the order they began, which is that of the index and no matter
/// of the clock; none for a session nobody knows.
pub fn runs_of_session(runs: &[IndexedRun], session: &SessionId) -> Vec<IndexedRun> {
    session_of(runs, |other| other == session)
}

fn session_of(runs: &[IndexedRun], is_meant: impl Fn(&SessionId) -> bool) -> Vec<IndexedRun> {
    let of_session = runs.iter().filter(|run| is_meant(&run.session));
    of_session.cloned().collect()
}

/// Returns the id that begins with the prefix, if it is the only one.
fn whole_id<'a>(runs: &'a [IndexedRun], prefix: &str) -> Result<&'a str, FindError> {
    let mut ids: Vec<&str> = runs
        .iter()
        .flat_map(|run| [run.run.as_str(), run.session.as_str()])
        .filter(|id| !prefix.is_empty() && id.starts_with(prefix))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    match ids.as_slice() {
        [] => Err(FindError::NotFound(prefix.to_owned())),
        [id] => Ok(*id),
        several => {
            let exact = several.iter().find(|id| **id == prefix).copied();
            exact.ok_or_else(|| FindError::Ambiguous {
                prefix: prefix.to_owned(),
                candidates: several.iter().map(|id| (*id).to_owned()).collect(),
            })
        }
    }
}
