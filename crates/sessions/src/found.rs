//! Finds runs by an id, wherever they are known from: the index, or a session of pi.

use std::io;
use std::path::PathBuf;

use pi_subagents_delegation::{RunId, SessionId};

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

/// What an id stands for.
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
    #[error("\"{session}\" is ambiguous: it is {}", agents(conversations))]
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

/// Lists what an ambiguous id may mean: "a session of scout and a session of critic".
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
fn some_of(ids: &[String]) -> String {
    match ids.split_at_checked(5) {
        Some((first, rest @ [_, ..])) => format!("{} and {} more", first.join(", "), rest.len()),
        Some(_) | None => ids.join(", "),
    }
}

/// Finds a run or a session by its id or by the unique beginning of it.
pub fn find<R: RunIds + Clone>(runs: &[R], prefix: &str) -> Result<Found<R>, FindError> {
    let id = whole_id(runs, prefix)?;
    let of_session = session_of(runs, |session| session.as_str() == id);
    if let Some(first) = of_session.first() {
        return Ok(Found::Session(first.session_id().clone(), of_session));
    }
    let run = runs.iter().find(|run| run.run_id().as_str() == id);
    run.cloned()
        .map(Found::Run)
        .ok_or_else(|| FindError::NotFound(prefix.to_owned()))
}

/// Returns the runs of a session in the order they began, which is the order of the index and has
/// nothing to do with the clock. The list is empty for a session that nobody knows.
pub fn runs_of_session<R: RunIds + Clone>(runs: &[R], session: &SessionId) -> Vec<R> {
    session_of(runs, |other| other == session)
}

fn session_of<R: RunIds + Clone>(runs: &[R], is_meant: impl Fn(&SessionId) -> bool) -> Vec<R> {
    let of_session = runs.iter().filter(|run| is_meant(run.session_id()));
    of_session.cloned().collect()
}

/// Returns the only id that begins with `prefix`, or the one that equals it.
fn whole_id<'a, R: RunIds>(runs: &'a [R], prefix: &str) -> Result<&'a str, FindError> {
    let mut ids: Vec<&str> = runs
        .iter()
        .flat_map(|run| [run.run_id().as_str(), run.session_id().as_str()])
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

    /// Returns the runs that were found, or the sentence that says why none was.
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
            ("ta", vec!["r-aa1", "r-ab2"]),
            ("oth", vec!["r-ab1"]),
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
        let runs = [known("r-1", "abc"), known("r-2", "abcd")];
        assert_eq!(
            found(&runs, "ab"),
            Err("\"ab\" is the beginning of several ids: abc, abcd".to_owned())
        );
        assert_eq!(
            found(&runs, "r"),
            Err("\"r\" is the beginning of several ids: r-1, r-2".to_owned())
        );
        assert_eq!(found(&runs, "abc"), Ok(vec!["r-1".to_owned()]));
    }

    #[test]
    fn nothing_begins_with_an_unknown_or_an_empty_id() {
        for id in ["x", "", "r-11"] {
            let nothing = format!("no run and no session begins with \"{id}\"");
            assert_eq!(found(&[known("r-1", "abc")], id), Err(nothing));
        }
    }
}
