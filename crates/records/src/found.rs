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
pub enum Found<R> {
    /// One run.
    Run(R),
    /// A session with its runs, oldest first.
    Session(SessionId, Vec<R>),
}

impl<R: RunIds> Found<R> {
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
        "\"{0}\" is too short: the beginning of an id has at least {SHORTEST_BEGINNING} characters"
    )]
    TooShort(String),
    /// There are fewer runs than that.
    #[error("there is no {typed}: {}", how_many(*runs))]
    TooFar {
        /// The word that was asked for.
        typed: String,
        /// The number of runs.
        runs: usize,
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
        conversations: Vec<Conversation>,
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
    /// The task of its latest run and when that was taken on, where a person is to choose.
    pub latest: Option<(String, Timestamp)>,
}

/// One of several conversations with the same session id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The agent that works in it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// Its latest run.
    pub latest: RunId,
}

/// Lists the meanings of an ambiguous id: "a session of scout and a session of critic".
fn agents(conversations: &[Conversation]) -> String {
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

/// Finds a run or a session by its id or by a unique beginning of the id.
pub fn find<R: RunIds + Clone>(runs: &[R], prefix: &str) -> Result<Found<R>, FindError> {
    let not_found = || FindError::NotFound {
        id: prefix.to_owned(),
        nearest: None,
        unasked: None,
    };
    if let Some(found) = find_exactly(runs, prefix) {
        return Ok(found);
    }
    if prefix.chars().count() < SHORTEST_BEGINNING {
        return Err(not_found());
    }
    let ids = ids_beginning_with(runs, prefix);
    match ids.as_slice() {
        [] => Err(not_found()),
        [id] => find_exactly(runs, id).ok_or_else(not_found),
        several => Err(FindError::Ambiguous {
            prefix: prefix.to_owned(),
            candidates: several.iter().map(|id| candidate(id)).collect(),
        }),
    }
}

/// Finds a run or a session by its whole id.
pub(crate) fn find_exactly<R: RunIds + Clone>(runs: &[R], id: &str) -> Option<Found<R>> {
    let of_session = session_of(runs, |session| session.as_str() == id);
    if let Some(first) = of_session.first() {
        return Some(Found::Session(first.session_id().clone(), of_session));
    }
    let run = runs.iter().find(|run| run.run_id().as_str() == id);
    run.cloned().map(Found::Run)
}

fn candidate(id: &str) -> Candidate {
    Candidate {
        id: id.to_owned(),
        latest: None,
    }
}

/// Returns the runs of a session in the order they began, which is the order of the index and has
/// nothing to do with the clock. The list is empty for an unknown session.
pub fn runs_of_session<R: RunIds + Clone>(runs: &[R], session: &SessionId) -> Vec<R> {
    session_of(runs, |other| other == session)
}

fn session_of<R: RunIds + Clone>(runs: &[R], is_meant: impl Fn(&SessionId) -> bool) -> Vec<R> {
    let of_session = runs.iter().filter(|run| is_meant(run.session_id()));
    of_session.cloned().collect()
}

/// Returns the ids that begin with `prefix`, each once.
pub(crate) fn ids_beginning_with<'a, R: RunIds>(runs: &'a [R], prefix: &str) -> Vec<&'a str> {
    let mut ids: Vec<&str> = runs
        .iter()
        .flat_map(|run| [run.run_id().as_str(), run.session_id().as_str()])
        .filter(|id| !prefix.is_empty() && id.starts_with(prefix))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Known(RunId, SessionId);

    impl RunIds for Known {
        fn run_id(&self) -> &RunId {
            &self.0
        }

        fn session_id(&self) -> &SessionId {
            &self.1
        }
    }

    fn known(run: &str, session: &str) -> Known {
        let run = RunId::parse(run).expect("an id of a run");
        Known(run, SessionId::parse(session).expect("an id of a session"))
    }

    /// Returns the runs that were found, or the error.
    fn found(runs: &[Known], id: &str) -> Result<Vec<String>, String> {
        let found = find(runs, id).map_err(|error| error.to_string())?;
        let runs = found.into_runs().into_iter();
        Ok(runs.map(|run| run.0.to_string()).collect())
    }

    #[test]
    fn an_id_or_its_unique_beginning_is_found() {
        let runs = [
            known("r-aa1", "talk"),
            known("r-ab1", "other"),
            known("r-ab2", "talk"),
        ];
        for (id, expected) in [
            ("r-aa1", vec!["r-aa1"]),
            ("r-aa", vec!["r-aa1"]),
            ("talk", vec!["r-aa1", "r-ab2"]),
            ("othe", vec!["r-ab1"]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(found(&runs, id), Ok(expected), "{id}");
        }
        assert_eq!(find(&runs, "r-aa").expect("a run").run(), Some(&runs[0].0));
        let session = find(&runs, "talk").expect("a session");
        assert_eq!((session.run(), session.session()), (None, &runs[0].1));
    }

    #[test]
    fn a_beginning_of_several_ids_is_ambiguous_unless_it_is_one_of_them() {
        let runs = [known("run-1", "talk"), known("run-2", "talks")];
        assert_eq!(
            found(&runs, "run-"),
            Err("\"run-\" is the beginning of several ids: run-1, run-2".to_owned())
        );
        assert_eq!(found(&runs, "talk"), Ok(vec!["run-1".to_owned()]));
    }

    #[test]
    fn an_unknown_empty_or_short_beginning_leads_nowhere() {
        for id in ["x", "", "r-11", "abc"] {
            let nothing = format!("there is no run or session \"{id}\"");
            assert_eq!(found(&[known("r-1", "abcd")], id), Err(nothing));
        }
        let short = found(&[known("r-1", "ab")], "ab");
        assert_eq!(short, Ok(vec!["r-1".to_owned()]));
    }
}
