//! The plan of a removal: the chosen runs that go, and the reasons why others stay. A dry run
//! prints the plan, and a real run carries it out.

use std::collections::HashMap;

use pi_subagents_records::{IndexedRun, NoticeOf, Removal, RunState};
use pi_subagents_vocabulary::{RunId, SessionId, Timestamp};

use super::choice::{Choice, Rule, Session, chosen};
use super::keep_reason::{Facts, Reason, why_kept};
use crate::workspace::Workspace;

/// The chosen runs.
#[derive(Debug, Default)]
pub struct CleanupPlan {
    pub going: Vec<Going>,
    pub kept: Vec<KeptRun>,
}

/// A run that goes.
#[derive(Debug, Clone)]
pub struct Going {
    pub run: IndexedRun,
    /// The bytes that it takes on the disk.
    pub bytes: u64,
}

/// A run that was chosen and stays.
#[derive(Debug, Clone)]
pub struct KeptRun {
    pub run: IndexedRun,
    pub reason: Reason,
}

/// Looks at runs and their directories. Each directory is measured only once.
pub struct Planner<'a> {
    pub(crate) removal: Removal<'a>,
    choice: Choice,
    now: Timestamp,
    bytes: HashMap<RunId, u64>,
}

impl<'a> Planner<'a> {
    pub fn new(removal: Removal<'a>, choice: Choice, now: Timestamp) -> Self {
        Self {
            removal,
            choice,
            now,
            bytes: HashMap::new(),
        }
    }

    /// Plans the removal of the chosen runs of the index.
    pub fn plan(&mut self, runs: &[IndexedRun]) -> CleanupPlan {
        let mut plan = CleanupPlan::default();
        for session in self.chosen_sessions(runs) {
            self.add(&mut plan, &session);
        }
        plan
    }

    /// Returns how much of the disk a run takes.
    pub fn disk_use(&mut self, run: &IndexedRun) -> u64 {
        if let Some(bytes) = self.bytes.get(&run.run) {
            return *bytes;
        }
        let bytes = self.removal.disk_use(run);
        self.bytes.insert(run.run.clone(), bytes);
        bytes
    }

    /// Returns the sessions with a chosen run. Each has its runs, oldest first, with whether the
    /// run was chosen.
    fn chosen_sessions<'r>(&mut self, runs: &'r [IndexedRun]) -> Vec<Vec<(&'r IndexedRun, bool)>> {
        let sessions = by_session(runs);
        let is_chosen: Vec<Vec<bool>> = match self.choice.clone() {
            Choice::Named(named) => sessions
                .iter()
                .map(|runs| runs.iter().map(|run| named.contains(&run.run)).collect())
                .collect(),
            Choice::Rule { rule, project } => {
                let looked_at: Vec<Session<'_>> = sessions
                    .iter()
                    .filter_map(|runs| self.looked_at(runs, &rule))
                    .collect();
                let chosen = chosen(&rule, project.as_deref(), &looked_at, self.now);
                let lengths = sessions.iter().map(Vec::len).zip(chosen);
                lengths.map(|(runs, is)| vec![is; runs]).collect()
            }
        };
        let sessions = sessions.into_iter().zip(is_chosen);
        sessions
            .filter(|(_, is_chosen)| is_chosen.contains(&true))
            .map(|(runs, is_chosen)| runs.into_iter().zip(is_chosen).collect())
            .collect()
    }

    fn looked_at<'r>(&mut self, runs: &[&'r IndexedRun], rule: &Rule) -> Option<Session<'r>> {
        let latest = runs.last()?;
        let needs_bytes = matches!(rule, Rule::Retention(retention) if retention.bytes.is_some());
        let bytes = if needs_bytes {
            runs.iter().map(|run| self.disk_use(run)).sum()
        } else {
            0
        };
        let ends = runs.iter().map(|run| ended_at(run).unwrap_or(self.now));
        Some(Session {
            project: &latest.project,
            ended_at: ends.max().unwrap_or(self.now),
            sequence: latest.sequence,
            runs: runs.len(),
            bytes,
        })
    }

    /// Adds the runs of one session. A rule takes a session as a whole or not at all.
    fn add(&mut self, plan: &mut CleanupPlan, session: &[(&IndexedRun, bool)]) {
        let is_named = matches!(self.choice, Choice::Named(_));
        let mut is_continued = false;
        let (mut going, mut kept) = (Vec::new(), Vec::new());
        for (run, is_chosen) in session.iter().rev() {
            if !is_chosen {
                is_continued = true;
                continue;
            }
            let facts = Facts {
                is_open: run.is_open(),
                is_continued,
                is_untold: is_untold(run),
                is_unmerged: is_unmerged(run),
                is_named,
                obstacle: self.removal.obstacle(run).map(|error| error.to_string()),
            };
            match why_kept(&facts) {
                Some(reason) => {
                    is_continued = true;
                    kept.push(keep(run, reason));
                }
                None => going.push(*run),
            }
        }
        if !is_named && !kept.is_empty() {
            let rest = going.drain(..);
            kept.extend(rest.map(|run| keep(run, Reason::Continued)));
        }
        // The latest run is removed first: if we are killed in between, the beginning of the
        // conversation is left, and never an end without its beginning.
        for run in going {
            let bytes = self.disk_use(run);
            let run = run.clone();
            plan.going.push(Going { run, bytes });
        }
        plan.kept.extend(kept.into_iter().rev());
    }
}

fn keep(run: &IndexedRun, reason: Reason) -> KeptRun {
    let run = run.clone();
    KeptRun { run, reason }
}

/// Returns when a run ended, by the later of its two times: a time that cannot be read is that of
/// 1970.
fn ended_at(run: &IndexedRun) -> Option<Timestamp> {
    match run.state {
        RunState::Open => None,
        RunState::Over { at, .. } => Some(at.max(run.accepted_at)),
    }
}

/// Returns whether a run has a worktree whose result waits for somebody.
fn is_unmerged(run: &IndexedRun) -> bool {
    let workspace = Workspace::read(run.directory.path());
    workspace.is_some_and(|workspace| workspace.is_unmerged())
}

/// Returns whether a session of pi was promised a notice of the end of this run and has not got it.
fn is_untold(run: &IndexedRun) -> bool {
    let detached = run.owner.detached.as_ref();
    let pi_session = detached.and_then(|detached| detached.pi_session.as_deref());
    pi_session.is_some_and(|session| !run.directory.has_notified(session, NoticeOf::End))
}

/// Returns the runs of each session, oldest first; the sessions in the order they began.
fn by_session(runs: &[IndexedRun]) -> Vec<Vec<&IndexedRun>> {
    let mut sessions: Vec<Vec<&IndexedRun>> = Vec::new();
    let mut places: HashMap<&SessionId, usize> = HashMap::new();
    for run in runs {
        let place = *places.entry(&run.session).or_insert_with(|| {
            sessions.push(Vec::new());
            sessions.len() - 1
        });
        sessions[place].push(run);
    }
    sessions
}
