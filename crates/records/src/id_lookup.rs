//! Finds runs by an id, wherever they are known from: the index, or a session of pi.

use std::io;
use std::path::PathBuf;

use pi_subagents_vocabulary::{RunId, SessionId, Timestamp};

use crate::index::{IndexedRun, RemovedRun};

/// The ids by which a run can be found.
pub trait RunIds {
    /// Returns the id of the run itself.
    fn run_id(&self) -> &RunId;

    /// Returns the id of the session that the run belongs to.
    fn session_id(&self) -> &SessionId;
}

impl RunIds for IndexedRun {
    fn run_id(&self) -> &RunId {
        &self.run
    }

    fn session_id(&self) -> &SessionId {
        &self.session
    }
}

impl RunIds for RemovedRun {
    fn run_id(&self) -> &RunId {
        &self.run
    }

    fn session_id(&self) -> &SessionId {
        &self.session
    }
}

/// The run or session that an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOrSession<R> {
    /// One run.
    Run(R),
    /// A session with its runs, oldest first.
    Session(SessionId, Vec<R>),
}

impl<R: RunIds> RunOrSession<R> {
    /// Returns the runs that the id stands for, oldest first.
    pub fn into_runs(self) -> Vec<R> {
        match self {
            Self::Run(run) => vec![run],
            Self::Session(_, runs) => runs,
        }
    }

    /// Returns the runs that the id stands for, oldest first.
    pub fn runs(&self) -> &[R] {
        match self {
            Self::Run(run) => std::slice::from_ref(run),
            Self::Session(_, runs) => runs,
        }
    }

    /// Returns the session that was found, or the session of the run that was found.
    pub fn session(&self) -> &SessionId {
        match self {
            Self::Run(run) => run.session_id(),
            Self::Session(session, _) => session,
        }
    }

    /// Returns the run, if the id is that of a run and not of a session.
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(run) => Some(run.run_id()),
            Self::Session(..) => None,
        }
    }
}

/// The reason why an id leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No id or name is this word or begins with it.
    #[error("there is no run or session \"{id}\"")]
    NotFound {
        /// The word that was asked for.
        id: String,
        /// The word that was probably meant.
        nearest: Option<String>,
        /// Why other machines could not be asked for it, if they could not.
        unasked: Option<String>,
    },
    /// There was such a run, and it was removed.
    #[error("run {} (\"{}\") was removed on {}", .0.run, .0.name, minute(.0.removed_at))]
    Removed(Box<RemovedRun>),
    /// It is the beginning of an id, but too short to be meant as one.
    #[error(
        "\"{0}\" is too short: name an id by at least its first {SHORTEST_BEGINNING} characters"
    )]
    TooShort(String),
    /// There are fewer runs than that.
    #[error("\"{typed}\" means no run: {}", how_many(*runs))]
    TooFar {
        /// The word that was asked for.
        typed: String,
        /// The number of runs.
        runs: usize,
    },
    /// The project has no runs, and another one has.
    #[error("\"{typed}\" means no run: this project has no runs yet")]
    NothingHere {
        /// The word that was asked for.
        typed: String,
        /// The newest run of all projects.
        latest: Box<LatestElsewhere>,
    },
    /// Several begin with it.
    #[error(
        "\"{prefix}\" is the beginning of several ids: {}",
        some_of(candidates)
    )]
    Ambiguous {
        /// The word that was asked for.
        prefix: String,
        /// The ids that begin with it.
        candidates: Vec<Candidate>,
    },
    /// Several conversations share this session id.
    #[error("\"{session}\" is ambiguous: it is {}", agents(conversations))]
    Shared {
        /// The word that was asked for.
        session: String,
        /// The conversations that it may mean.
        conversations: Vec<CandidateConversation>,
    },
    /// The index cannot be read.
    #[error("could not read {path}")]
    Unreadable {
        /// The index.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

/// A beginning of an id that is shorter than this is refused: a slip of the finger is no id.
pub const SHORTEST_BEGINNING: usize = 4;

/// One of several ids with the same beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The id.
    pub id: String,
    /// The task of its latest run.
    pub name: String,
    /// The time at which that run was accepted.
    pub accepted_at: Timestamp,
}

/// The newest run, which belongs to another project than the one that was asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestElsewhere {
    /// The run.
    pub run: RunId,
    /// The name of its task.
    pub name: String,
    /// Its project.
    pub project: PathBuf,
    /// The time at which it was accepted.
    pub accepted_at: Timestamp,
}

impl FindError {
    /// Returns whether nothing is there that the word could mean.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::TooShort(_)
            | Self::TooFar { .. }
            | Self::NothingHere { .. } => true,
            Self::Removed(_)
            | Self::Ambiguous { .. }
            | Self::Shared { .. }
            | Self::Unreadable { .. } => false,
        }
    }
}

/// One of several conversations with the same session id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateConversation {
    /// The agent that works in it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// Its latest run.
    pub latest: RunId,
}

/// Lists the meanings of an ambiguous id: "a session of scout and a session of critic".
fn agents(conversations: &[CandidateConversation]) -> String {
    let sessions: Vec<String> = conversations
        .iter()
        .map(|one| format!("a session of {}", one.agent))
        .collect();
    match sessions.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        few => few.join(""),
    }
}

/// Lists as many ids as a person reads, and how many more there are.
fn some_of(candidates: &[Candidate]) -> String {
    let ids: Vec<&str> = candidates.iter().map(|one| one.id.as_str()).collect();
    match ids.split_at_checked(5) {
        Some((first, rest @ [_, ..])) => format!("{} and {} more", first.join(", "), rest.len()),
        Some(_) | None => ids.join(", "),
    }
}

/// Writes the day and the minute of a time.
fn minute(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%Y-%m-%d at %H:%M UTC")
}

/// Says how many runs there are to count back from.
fn how_many(runs: usize) -> String {
    match runs {
        0 => "there are no runs yet".to_owned(),
        1 => "there is only one run".to_owned(),
        several => format!("there are only {several} runs"),
    }
}

/// Returns the runs of a session in the order they began, which is the order of the index and has
/// nothing to do with the clock. The list is empty for an unknown session.
pub fn runs_of_session<R: RunIds + Clone>(runs: &[R], session: &SessionId) -> Vec<R> {
    let of_session = runs.iter().filter(|run| run.session_id() == session);
    of_session.cloned().collect()
}
