//! Finds the run or the session that a word means: an id, the beginning of an id, `last`, `last~N`,
//! or a name. There is one rule for people and models, and it is pure: runs in, found or a typed
//! error out.

use std::path::Path;

use pi_subagents_vocabulary::{Timestamp, nearest};

use crate::id_lookup::{
    Candidate, FindError, LatestElsewhere, RunIds, RunOrSession, SHORTEST_BEGINNING,
};
use crate::index::{IndexedRun, RemovedRun};

/// The word for the newest run.
const LAST: &str = "last";

/// The number of newest runs that are compared with a misspelt word.
const COMPARED: usize = 500;

/// Finds runs among those that somebody may know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finder<'a> {
    /// The runs that are looked at first.
    pub scope: FindScope<'a>,
    /// The choice among several runs with the same name.
    pub prefers: Prefers,
}

/// The runs that are looked at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindScope<'a> {
    /// All that are given: those of a session of pi, or of a client.
    Given,
    /// Those of a project. A name may also be that of a run of another project; `last` never is.
    Project(&'a Path),
}

/// The choice among several runs with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefers {
    /// The newest run.
    Newest,
    /// The newest run in progress; the newest run if none is in progress.
    Running,
}

/// A run that can be found by other words than its ids.
pub trait Findable: RunIds + Clone {
    /// Returns what a word is compared with.
    fn facts(&self) -> FindableFacts<'_>;
}

/// The facts about a run that a word is compared with.
#[derive(Debug, Clone, Copy)]
pub struct FindableFacts<'a> {
    /// The name of its task.
    pub name: &'a str,
    /// The name of the definition that it was given to.
    pub definition: Option<&'a str>,
    /// The project it belongs to, where that is known.
    pub project: Option<&'a Path>,
    /// The time at which it was accepted.
    pub accepted_at: Timestamp,
    /// True if it is not over.
    pub is_open: bool,
}

impl Findable for IndexedRun {
    fn facts(&self) -> FindableFacts<'_> {
        FindableFacts {
            name: &self.name,
            definition: self.preset.as_deref(),
            project: Some(&self.project),
            accepted_at: self.accepted_at,
            is_open: self.is_open(),
        }
    }
}

impl Finder<'_> {
    /// Finds the newest of several runs with a name, among the given runs.
    pub const GIVEN: Self = Self {
        scope: FindScope::Given,
        prefers: Prefers::Newest,
    };

    /// Finds the run or the session that a word means. The runs are given oldest first. An exact id
    /// comes before `last` and names, and a name before the beginning of an id.
    pub fn find<R: Findable>(&self, runs: &[R], word: &str) -> Result<RunOrSession<R>, FindError> {
        if let Some(found) = find_exactly(runs, word) {
            return Ok(found);
        }
        if let Some(steps) = steps_before_newest(word) {
            return self.before_newest(runs, word, steps);
        }
        if let Some(run) = self.newest_of_that_name(runs, word) {
            return Ok(RunOrSession::Run(run.clone()));
        }
        find_beginning(runs, word)
    }

    fn before_newest<R: Findable>(
        &self,
        runs: &[R],
        word: &str,
        steps: usize,
    ) -> Result<RunOrSession<R>, FindError> {
        let here: Vec<&R> = runs.iter().filter(|run| self.is_here(*run)).collect();
        let run = here.iter().rev().nth(steps).copied();
        let run = run.cloned().map(RunOrSession::Run);
        run.ok_or_else(|| match runs.last() {
            Some(latest) if here.is_empty() => FindError::NothingHere {
                typed: word.to_owned(),
                latest: Box::new(LatestElsewhere {
                    run: latest.run_id().clone(),
                    name: latest.facts().name.to_owned(),
                    project: latest.facts().project.unwrap_or(Path::new("")).to_owned(),
                    accepted_at: latest.facts().accepted_at,
                }),
            },
            Some(_) | None => FindError::TooFar {
                typed: word.to_owned(),
                runs: here.len(),
            },
        })
    }

    /// Returns the newest run whose task or definition has this name: one of the project, or of all
    /// projects if none of the project has it.
    fn newest_of_that_name<'r, R: Findable>(&self, runs: &'r [R], word: &str) -> Option<&'r R> {
        let is_named = |run: &&R| {
            let facts = run.facts();
            facts.name == word || facts.definition == Some(word)
        };
        let all: Vec<&R> = runs.iter().filter(is_named).collect();
        let here: Vec<&R> = all
            .iter()
            .copied()
            .filter(|run| self.is_here(*run))
            .collect();
        let named = if here.is_empty() { all } else { here };
        let newest = named.last().copied();
        let running = || named.iter().rev().find(|run| run.facts().is_open).copied();
        match self.prefers {
            Prefers::Newest => newest,
            Prefers::Running => running().or(newest),
        }
    }

    fn is_here<R: Findable>(&self, run: &R) -> bool {
        match self.scope {
            FindScope::Given => true,
            FindScope::Project(project) => run.facts().project == Some(project),
        }
    }
}

/// Returns the run that was removed and that an id or its beginning leads to; none if several can be
/// meant.
pub fn find_removed(removed: &[RemovedRun], id: &str) -> Option<RemovedRun> {
    let begins = |run: &&RemovedRun| {
        let ids = [run.run.as_str(), run.session.as_str()];
        ids.contains(&id)
            || (id.chars().count() >= SHORTEST_BEGINNING
                && ids.iter().any(|known| known.starts_with(id)))
    };
    let found: Vec<&RemovedRun> = removed.iter().filter(begins).collect();
    let latest = found.last().copied()?;
    let is_one = found.iter().all(|run| run.session == latest.session);
    is_one.then(|| latest.clone())
}

/// Returns how many of the newest runs these words may need: of all runs, and of those that are looked
/// at first.
pub(crate) fn newest_needed(words: &[&str]) -> (usize, usize) {
    let steps = words.iter().filter_map(|word| steps_before_newest(word));
    let here = steps.max().map_or(0, |steps| steps.saturating_add(1));
    (COMPARED, here)
}

/// Reads `last` and `last~N`. Returns the number of steps from the newest run back to the one that
/// is meant.
fn steps_before_newest(word: &str) -> Option<usize> {
    let rest = word.strip_prefix(LAST)?;
    if rest.is_empty() {
        return Some(0);
    }
    rest.strip_prefix('~')?.parse().ok()
}

/// Finds a run or a session by its whole id.
fn find_exactly<R: RunIds + Clone>(runs: &[R], id: &str) -> Option<RunOrSession<R>> {
    let of_session = runs.iter().filter(|run| run.session_id().as_str() == id);
    let of_session: Vec<R> = of_session.cloned().collect();
    if let Some(first) = of_session.first() {
        return Some(RunOrSession::Session(
            first.session_id().clone(),
            of_session,
        ));
    }
    let run = runs.iter().find(|run| run.run_id().as_str() == id);
    run.cloned().map(RunOrSession::Run)
}

/// Finds a run or a session by the beginning of its id. The error has what helps: the candidates, or
/// the word that was probably meant.
fn find_beginning<R: Findable>(runs: &[R], word: &str) -> Result<RunOrSession<R>, FindError> {
    let not_found = || FindError::NotFound {
        id: word.to_owned(),
        nearest: probably_meant(word, runs),
        unasked: None,
    };
    let ids = ids_beginning_with(runs, word);
    if word.chars().count() < SHORTEST_BEGINNING && !ids.is_empty() {
        return Err(FindError::TooShort(word.to_owned()));
    }
    match ids.as_slice() {
        [] => Err(not_found()),
        [id] => find_exactly(runs, id).ok_or_else(not_found),
        several => Err(FindError::Ambiguous {
            prefix: word.to_owned(),
            candidates: candidates(several, runs),
        }),
    }
}

/// Describes each of several ids by its latest run; the newest comes first.
fn candidates<R: Findable>(ids: &[&str], runs: &[R]) -> Vec<Candidate> {
    let described = ids.iter().map(|id| {
        let has_id = |run: &&R| [run.run_id().as_str(), run.session_id().as_str()].contains(id);
        let latest = runs.iter().rev().find(has_id).map(Findable::facts);
        Candidate {
            id: (*id).to_owned(),
            name: latest.map_or("", |run| run.name).to_owned(),
            accepted_at: latest.map(|run| run.accepted_at).unwrap_or_default(),
        }
    });
    let mut candidates: Vec<Candidate> = described.collect();
    candidates.sort_by_key(|one| std::cmp::Reverse(one.accepted_at));
    candidates
}

/// Returns the ids that begin with `prefix`, each once.
fn ids_beginning_with<'a, R: RunIds>(runs: &'a [R], prefix: &str) -> Vec<&'a str> {
    let mut ids: Vec<&str> = runs
        .iter()
        .flat_map(|run| [run.run_id().as_str(), run.session_id().as_str()])
        .filter(|id| !prefix.is_empty() && id.starts_with(prefix))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Returns the name or the id that was probably meant, of the newest runs.
fn probably_meant<R: Findable>(word: &str, runs: &[R]) -> Option<String> {
    let newest = || runs.iter().rev().take(COMPARED);
    let names = newest().flat_map(|run| [Some(run.facts().name), run.facts().definition]);
    let ids = newest().flat_map(|run| [run.session_id().as_str(), run.run_id().as_str()]);
    let last = runs.last().map(|_| LAST);
    nearest(word, last.into_iter().chain(names.flatten()).chain(ids)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use pi_subagents_vocabulary::{RunId, SessionId, Status, Timestamp};

    use super::*;
    use crate::{OwnerName, RunDir, RunState};

    const HERE: &str = "/home/ada/lamp";
    const ELSEWHERE: &str = "/home/ada/horn";
    const OVER: RunState = RunState::Over {
        status: Status::Completed,
        exit_code: 0,
        at: Timestamp::UNIX_EPOCH,
        used: None,
    };

    fn run(id: &str, session: &str, name: &str, project: &str, state: RunState) -> IndexedRun {
        IndexedRun {
            run: RunId::parse(id).unwrap(),
            session: SessionId::parse(session).unwrap(),
            name: name.to_owned(),
            preset: None,
            model: None,
            directory: RunDir::new(format!("/runs/{id}")),
            project: PathBuf::from(project),
            accepted_at: Timestamp::UNIX_EPOCH,
            sequence: 0,
            owner: Arc::new(OwnerName {
                pid: 1,
                start_time: 1,
                host: "here".to_owned(),
                socket: None,
                fleet: None,
                caller: None,
                detached: None,
            }),
            state,
        }
    }

    fn runs() -> Vec<IndexedRun> {
        let mut runs = vec![
            run("2026-1", "aaaa", "review", HERE, RunState::Open),
            run("2026-2", "bbbb", "review", HERE, OVER),
            run("2026-3", "cccc", "tests", HERE, OVER),
            run("2026-4", "dddd", "tests", ELSEWHERE, RunState::Open),
            run("2026-5", "review", "horn", ELSEWHERE, OVER),
        ];
        runs[2].preset = Some("tester".to_owned());
        runs
    }

    fn found_in(runs: &[IndexedRun], text: &str, project: &str, prefers: Prefers) -> String {
        let scope = FindScope::Project(Path::new(project));
        match (Finder { scope, prefers }).find(runs, text) {
            Ok(RunOrSession::Run(run)) => format!("run {}", run.run),
            Ok(RunOrSession::Session(session, _)) => format!("session {session}"),
            Err(FindError::NotFound { id, nearest, .. }) => format!("no {id}, {nearest:?}"),
            Err(error) => error.to_string(),
        }
    }

    fn found(text: &str) -> String {
        found_in(&runs(), text, HERE, Prefers::Newest)
    }

    #[test]
    fn last_is_the_newest_run_of_the_project_and_counts_back() {
        assert_eq!(found("last"), "run 2026-3");
        assert_eq!(found("last~0"), "run 2026-3");
        assert_eq!(found("last~2"), "run 2026-1");
        assert_eq!(
            found("last~3"),
            r#""last~3" means no run: there are only 3 runs"#
        );
        let farthest = format!("last~{}", usize::MAX);
        assert_eq!(
            found(&farthest),
            format!("\"{farthest}\" means no run: there are only 3 runs")
        );
        for text in ["last~", "last~x", "last~-1"] {
            assert_eq!(found(text), format!("no {text}, Some(\"last\")"));
        }
        let nowhere = found_in(&runs(), "last", "/tmp", Prefers::Newest);
        let words = r#""last" means no run: this project has no runs yet"#;
        assert_eq!(nowhere, words);
        let none = found_in(&[], "last", HERE, Prefers::Newest);
        assert_eq!(none, r#""last" means no run: there are no runs yet"#);
    }

    #[test]
    fn a_name_is_that_of_the_newest_run_of_the_project() {
        assert_eq!(found("tests"), "run 2026-3");
        assert_eq!(found("tester"), "run 2026-3");
        assert_eq!(found("horn"), "run 2026-5");
        let elsewhere = found_in(&runs(), "tests", ELSEWHERE, Prefers::Newest);
        assert_eq!(elsewhere, "run 2026-4");
    }

    #[test]
    fn a_name_prefers_a_running_run_where_that_is_wanted_and_never_one_of_another_project() {
        let mut known = runs();
        known.pop();
        let running = |text| found_in(&known, text, HERE, Prefers::Running);
        assert_eq!(running("review"), "run 2026-1");
        assert_eq!(running("tests"), "run 2026-3");
        assert_eq!(running("last"), "run 2026-3");
    }

    #[test]
    fn an_exact_id_comes_before_a_name_and_a_name_before_a_beginning() {
        assert_eq!(found("review"), "session review");
        let mut known = runs();
        known.push(run("2026-6", "eeee", "cccc", HERE, OVER));
        known.push(run("2026-7", "ffff", "2026-", HERE, OVER));
        known.push(run("2026-8", "last", "x", HERE, OVER));
        let in_known = |text| found_in(&known, text, HERE, Prefers::Newest);
        assert_eq!(in_known("cccc"), "session cccc");
        assert_eq!(in_known("2026-"), "run 2026-7");
        assert_eq!(in_known("last"), "session last");
    }

    #[test]
    fn what_leads_nowhere_is_answered_with_what_helps() {
        assert_eq!(found("lantern"), "no lantern, None");
        assert_eq!(found("reveiw"), "no reveiw, Some(\"review\")");
        assert_eq!(found("testers"), "no testers, Some(\"tester\")");
        assert_eq!(found("2026-9"), "no 2026-9, Some(\"2026-5\")");
        assert_eq!(
            found("aa"),
            "\"aa\" is too short: name an id by at least its first 4 characters"
        );
        assert_eq!(found("zz"), "no zz, None");
        assert_eq!(found("lsat"), "no lsat, Some(\"last\")");
    }

    #[test]
    fn candidates_are_described_and_the_newest_comes_first() {
        let mut known = runs();
        for (second, run) in known.iter_mut().enumerate() {
            run.accepted_at = Timestamp::from_second(i64::try_from(second).unwrap()).unwrap();
        }
        let Err(FindError::Ambiguous { candidates, .. }) = Finder::GIVEN.find(&known, "2026")
        else {
            panic!("2026 is the beginning of five ids");
        };
        let described: Vec<(&str, &str)> = candidates
            .iter()
            .map(|one| (one.id.as_str(), one.name.as_str()))
            .collect();
        assert_eq!(
            described,
            [
                ("2026-5", "horn"),
                ("2026-4", "tests"),
                ("2026-3", "tests"),
                ("2026-2", "review"),
                ("2026-1", "review"),
            ]
        );
    }

    #[test]
    fn in_a_session_of_pi_all_given_runs_are_here() {
        let given = |text| match Finder::GIVEN.find(&runs(), text) {
            Ok(found) => found.into_runs().pop().unwrap().run.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(given("last"), "2026-5");
        assert_eq!(given("last~1"), "2026-4");
        assert_eq!(given("tests"), "2026-4");
        assert_eq!(
            given("last~5"),
            r#""last~5" means no run: there are only 5 runs"#
        );
    }

    #[test]
    fn a_removed_run_is_found_by_an_id_that_means_no_other() {
        let removed = |run: &str, session: &str| RemovedRun {
            run: RunId::parse(run).unwrap(),
            session: SessionId::parse(session).unwrap(),
            name: String::new(),
            directory: RunDir::new("/runs"),
            removed_at: Timestamp::UNIX_EPOCH,
        };
        let known = [removed("2026-1", "aaaa"), removed("2026-2", "aaaa")];
        let found = |id| find_removed(&known, id).map(|run| run.run.to_string());
        assert_eq!(found("aaaa"), Some("2026-2".to_owned()));
        assert_eq!(found("2026-1"), Some("2026-1".to_owned()));
        assert_eq!(found("202"), None);
        let other = [removed("2026-1", "aaaa"), removed("2026-2", "bbbb")];
        assert_eq!(find_removed(&other, "2026"), None);
    }
}
