//! Finds the run that a person means: by an id, by the beginning of an id, by `last`, or by a name.
//! Pure.

use std::path::Path;

use pi_subagents_vocabulary::nearest;

use crate::found::{FindError, Found, SHORTEST_BEGINNING, find, find_exactly, ids_beginning_with};
use crate::index::IndexedRun;

/// The word for the newest run.
const LAST: &str = "last";

/// The number of newest runs that are compared with a misspelt word.
const COMPARED: usize = 500;

/// A word that a person typed where a run is meant.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'a> {
    /// The word.
    pub text: &'a str,
    /// The project they are in, whose runs come before all others.
    pub project: &'a Path,
    /// The choice among several runs with the same name.
    pub prefers: Prefers,
}

/// The choice among several runs with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefers {
    /// The newest run.
    Newest,
    /// The newest run in progress; the newest run if none is in progress.
    Running,
}

/// Finds the run or session that a person means. An exact id comes before `last` and names, and a
/// name before the beginning of an id. The runs are given oldest first.
pub fn find_typed(runs: &[IndexedRun], typed: &Typed<'_>) -> Result<Found<IndexedRun>, FindError> {
    if let Some(found) = find_exactly(runs, typed.text) {
        return Ok(found);
    }
    if let Some(steps) = steps_before_newest(typed.text) {
        return typed.before_newest(runs, steps);
    }
    if let Some(run) = typed.newest_of_that_name(runs) {
        return Ok(Found::Run(run.clone()));
    }
    find(runs, typed.text).map_err(|error| for_a_person(error, runs))
}

/// Reads `last` and `last~N`. Returns the number of steps from the newest run back to the one that
/// is meant.
fn steps_before_newest(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(LAST)?;
    if rest.is_empty() {
        return Some(0);
    }
    rest.strip_prefix('~')?.parse().ok()
}

impl Typed<'_> {
    fn before_newest(
        &self,
        runs: &[IndexedRun],
        steps: usize,
    ) -> Result<Found<IndexedRun>, FindError> {
        let near = self.in_project_or_all(runs, |_| true);
        let run = near.iter().rev().nth(steps).copied();
        let run = run.cloned().map(Found::Run);
        run.ok_or_else(|| FindError::TooFar {
            typed: self.text.to_owned(),
            runs: near.len(),
        })
    }

    /// Returns the newest run whose task or definition has the typed name.
    fn newest_of_that_name<'r>(&self, runs: &'r [IndexedRun]) -> Option<&'r IndexedRun> {
        let named = self.in_project_or_all(runs, |run| {
            run.name == self.text || run.preset.as_deref() == Some(self.text)
        });
        let newest = named.last().copied();
        match self.prefers {
            Prefers::Newest => newest,
            Prefers::Running => named.into_iter().rev().find(|run| run.is_open()).or(newest),
        }
    }

    /// Returns the runs that fit: those of the project, or of all projects if none of the project
    /// fits.
    fn in_project_or_all<'r>(
        &self,
        runs: &'r [IndexedRun],
        fits: impl Fn(&IndexedRun) -> bool,
    ) -> Vec<&'r IndexedRun> {
        let all: Vec<&IndexedRun> = runs.iter().filter(|run| fits(run)).collect();
        let is_here = |run: &&IndexedRun| run.project == self.project;
        let here: Vec<&IndexedRun> = all.iter().copied().filter(is_here).collect();
        if here.is_empty() { all } else { here }
    }
}

/// Adds help for a person: the names of the candidates, and the names that may have been meant.
fn for_a_person(error: FindError, runs: &[IndexedRun]) -> FindError {
    match error {
        FindError::NotFound { id, .. }
            if id.chars().count() < SHORTEST_BEGINNING
                && !ids_beginning_with(runs, &id).is_empty() =>
        {
            FindError::TooShort(id)
        }
        FindError::NotFound { id, .. } => FindError::NotFound {
            nearest: probably_meant(&id, runs),
            unasked: None,
            id,
        },
        FindError::Ambiguous {
            prefix,
            mut candidates,
        } => {
            for candidate in &mut candidates {
                let has_id = |run: &&IndexedRun| {
                    run.run.as_str() == candidate.id || run.session.as_str() == candidate.id
                };
                let latest = runs.iter().rev().find(has_id);
                candidate.latest = latest.map(|run| (run.name.clone(), run.accepted_at));
            }
            candidates.sort_by(|one, other| {
                let at = |latest: &Option<(String, _)>| latest.as_ref().map(|(_, at)| *at);
                at(&other.latest).cmp(&at(&one.latest))
            });
            FindError::Ambiguous { prefix, candidates }
        }
        other => other,
    }
}

/// Returns the name or the id that was probably meant, of the newest runs.
fn probably_meant(text: &str, runs: &[IndexedRun]) -> Option<String> {
    let newest = || runs.iter().rev().take(COMPARED);
    let names = newest().flat_map(|run| [Some(run.name.as_str()), run.preset.as_deref()]);
    let ids = newest().flat_map(|run| [run.session.as_str(), run.run.as_str()]);
    let last = runs.last().map(|_| LAST);
    nearest(text, last.into_iter().chain(names.flatten()).chain(ids)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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
            owner: OwnerName {
                pid: 1,
                start_time: 1,
                host: "here".to_owned(),
                socket: None,
                fleet: None,
                caller: None,
                detached: None,
            },
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
        let project = Path::new(project);
        let typed = Typed {
            text,
            project,
            prefers,
        };
        match find_typed(runs, &typed) {
            Ok(Found::Run(run)) => format!("run {}", run.run),
            Ok(Found::Session(session, _)) => format!("session {session}"),
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
        assert_eq!(found("last~3"), "there is no last~3: there are only 3 runs");
        let farthest = format!("last~{}", usize::MAX);
        assert_eq!(
            found(&farthest),
            format!("there is no {farthest}: there are only 3 runs")
        );
        for text in ["last~", "last~x", "last~-1"] {
            assert_eq!(found(text), format!("no {text}, Some(\"last\")"));
        }
        let nowhere = found_in(&runs(), "last", "/tmp", Prefers::Newest);
        assert_eq!(nowhere, "run 2026-5");
        let none = found_in(&[], "last", HERE, Prefers::Newest);
        assert_eq!(none, "there is no last: there are no runs yet");
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
            "\"aa\" is too short: the beginning of an id has at least 4 characters"
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
        let typed = Typed {
            text: "2026",
            project: Path::new(HERE),
            prefers: Prefers::Newest,
        };
        let Err(FindError::Ambiguous { candidates, .. }) = find_typed(&known, &typed) else {
            panic!("2026 is the beginning of five ids");
        };
        let described: Vec<(&str, &str)> = candidates
            .iter()
            .map(|one| (one.id.as_str(), one.latest.as_ref().unwrap().0.as_str()))
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
}
