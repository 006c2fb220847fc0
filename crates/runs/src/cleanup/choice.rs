//! Chooses the sessions that are to go, by the wish of the user or by a rule. Whether a run must
//! stay all the same is decided in `keep_reason.rs`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_configuration::Retention;
use pi_subagents_vocabulary::{RunId, Timestamp};

/// The rule that chooses the runs to be removed.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The runs that a person named, each by itself.
    Named(HashSet<RunId>),
    /// Sessions by a rule, in one project or in all.
    Rule {
        rule: Rule,
        project: Option<PathBuf>,
    },
}

/// A rule about sessions. A session goes as a whole or stays.
#[derive(Debug, Clone)]
pub enum Rule {
    /// Sessions that are old enough and not among the latest runs of their project.
    Old {
        older: Option<Duration>,
        keep_last: Option<usize>,
    },
    /// The rule in the settings of the user.
    Retention(Retention),
}

/// A session, as far as a rule looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Session<'a> {
    /// The project of its latest run.
    pub(crate) project: &'a Path,
    /// The time at which its latest run ended; now, if that run has not ended.
    pub(crate) ended_at: Timestamp,
    /// The place of its latest run among all runs.
    pub(crate) sequence: u64,
    pub(crate) runs: usize,
    pub(crate) bytes: u64,
}

/// A run that ended later than this stays, however much room it takes: somebody wants to read it.
const ALWAYS_KEPT: Duration = Duration::from_hours(24);

/// Returns for each session whether a rule takes it.
pub(crate) fn chosen(
    rule: &Rule,
    project: Option<&Path>,
    sessions: &[Session<'_>],
    now: Timestamp,
) -> Vec<bool> {
    let mut latest_first: Vec<usize> = (0..sessions.len()).collect();
    latest_first.sort_by_key(|at| std::cmp::Reverse(sessions[*at].sequence));
    let mut totals: HashMap<&Path, Total> = HashMap::new();
    let mut chosen = vec![false; sessions.len()];
    for at in latest_first {
        let session = &sessions[at];
        let total = totals.entry(session.project).or_default();
        let before = *total;
        total.runs += session.runs;
        total.bytes += session.bytes;
        let is_asked = project.is_none_or(|project| project == session.project);
        chosen[at] = is_asked && takes(rule, session, before, now);
    }
    chosen
}

/// The sums over the later sessions of a project.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    runs: usize,
    bytes: u64,
}

fn takes(rule: &Rule, session: &Session<'_>, later: Total, now: Timestamp) -> bool {
    let is_older = |age: Duration| is_older(session.ended_at, age, now);
    match rule {
        Rule::Old { older, keep_last } => {
            let is_beyond = keep_last.is_none_or(|most| later.runs >= most);
            older.is_none_or(is_older) && is_beyond
        }
        Rule::Retention(retention) => {
            let is_too_much = |most| later.bytes + session.bytes > most && is_older(ALWAYS_KEPT);
            retention.age.is_some_and(is_older) || retention.bytes.is_some_and(is_too_much)
        }
    }
}

/// Returns whether something ended longer ago than this. A time in the future, by a clock that was
/// set back, is never old.
pub(crate) fn is_older(ended_at: Timestamp, age: Duration, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(ended_at)).is_ok_and(|elapsed| elapsed >= age)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn now() -> Timestamp {
        "2026-06-01T00:00:00Z".parse().unwrap()
    }

    /// Makes sessions from their project, age in days, runs and bytes, oldest first.
    fn sessions(of: &[(&'static str, u32, usize, u64)]) -> Vec<Session<'static>> {
        of.iter()
            .zip(0..)
            .map(|(&(project, days, runs, bytes), sequence)| Session {
                project: Path::new(project),
                ended_at: now() - DAY * days,
                sequence,
                runs,
                bytes,
            })
            .collect()
    }

    fn old(older: Option<u32>, keep_last: Option<usize>) -> Rule {
        let older = older.map(|days| DAY * days);
        Rule::Old { older, keep_last }
    }

    #[test]
    fn age_and_number_must_both_allow_it() {
        let sessions = sessions(&[
            ("/a", 40, 1, 0),
            ("/b", 35, 1, 0),
            ("/a", 30, 2, 0),
            ("/a", 2, 1, 0),
        ]);
        let chosen = |rule: &Rule| chosen(rule, None, &sessions, now());
        assert_eq!(chosen(&old(Some(30), None)), [true, true, true, false]);
        assert_eq!(chosen(&old(Some(31), None)), [true, true, false, false]);
        // Each project has its latest runs, and a session that begins among them stays whole.
        assert_eq!(chosen(&old(None, Some(2))), [true, false, false, false]);
        assert_eq!(chosen(&old(Some(36), Some(1))), [true, false, false, false]);
        assert_eq!(chosen(&old(None, Some(0))), [true; 4]);
    }

    #[test]
    fn a_rule_of_one_project_leaves_the_others() {
        let sessions = sessions(&[("/a", 40, 1, 0), ("/b", 40, 1, 0)]);
        let rule = old(Some(30), None);
        let of_a = chosen(&rule, Some(Path::new("/a")), &sessions, now());
        assert_eq!(of_a, [true, false]);
    }

    #[test]
    fn retention_takes_what_is_old_or_too_much_and_nothing_of_the_last_day() {
        let retention = |age: Option<u32>, bytes| {
            Rule::Retention(Retention {
                age: age.map(|days| DAY * days),
                bytes,
            })
        };
        let sessions = sessions(&[
            ("/a", 40, 1, 10),
            ("/a", 20, 1, 10),
            ("/b", 20, 1, 90),
            ("/a", 3, 1, 10),
            ("/a", 0, 1, 900),
        ]);
        let chosen = |rule: &Rule| chosen(rule, None, &sessions, now());
        let age = retention(Some(30), None);
        assert_eq!(chosen(&age), [true, false, false, false, false]);
        let both = retention(Some(30), Some(915));
        assert_eq!(chosen(&both), [true, true, false, false, false]);
        let much = retention(None, Some(5));
        assert_eq!(chosen(&much), [true, true, true, true, false]);
        assert_eq!(chosen(&retention(None, None)), [false; 5]);
    }

    #[test]
    fn nothing_that_ended_in_the_future_is_old() {
        assert!(!is_older(now() + DAY, Duration::ZERO, now()));
        assert!(is_older(now(), Duration::ZERO, now()));
    }
}
