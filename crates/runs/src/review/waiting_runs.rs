//! Runs without changes that wait for a person all the same: they are at a limit, wait for a budget, or
//! failed.

use std::collections::HashSet;
use std::path::Path;

use pi_subagents_records::{IndexedRun, Ledgers, RunState, history};
use pi_subagents_vocabulary::{
    BudgetDenial, Ending, HeldMessages, Question, QuestionKind, RunId, RunReport, SessionId,
    Status, Timestamp,
};

use super::later::ReviewNote;
use super::questions::WaitingQuestion;
use crate::budgets::FoundBudget;
use crate::row::RunRow;
use pi_subagents_ground::places::Places;

/// At most so many of the newest failed runs are read.
const MOST: usize = 50;

/// A run that ended before it was done.
#[derive(Debug, Clone)]
pub struct StoppedRun {
    pub row: RunRow,
    pub kind: StopKind,
    /// The time of its end.
    pub at: Timestamp,
    pub note: ReviewNote,
    /// What it waits for, if it goes on as soon as its budget is raised.
    pub paused: Option<PausedRun>,
}

/// A run that waits until somebody raises a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedRun {
    /// The reason, in a sentence.
    pub words: String,
    /// The budgets that have nothing left for it.
    pub used_up: Vec<BudgetDenial>,
    /// The question whether they may have more, if a person can be asked.
    pub question: Option<Question>,
}

impl PausedRun {
    /// Says what raising its budgets by half would add; `None` if none is used up any more.
    pub fn raise_words(&self) -> Option<String> {
        let raised = self.used_up.iter().map(|denial| {
            let more = denial.half_more();
            format!("{more} for {}", denial.scope)
        });
        let raised: Vec<String> = raised.collect();
        (!raised.is_empty()).then(|| raised.join(", "))
    }
}

impl StoppedRun {
    /// Says why it stopped.
    pub fn words(&self) -> Option<String> {
        let paused = self.paused.as_ref().map(|paused| paused.words.clone());
        paused.or_else(|| self.row.report.error_message.clone())
    }
}

/// The reason why it waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// It reached a limit, and can go on if somebody gives it more.
    Limit,
    /// It failed.
    Failure,
}

impl StopKind {
    /// Returns the kind of a run by its ending.
    pub(super) fn of(report: &RunReport) -> Self {
        match report.ending.as_deref() {
            Some(
                Ending::TimedOut { .. }
                | Ending::Looped { .. }
                | Ending::OutOfTurns { .. }
                | Ending::Overspent(_),
            ) => Self::Limit,
            Some(_) | None => Self::Failure,
        }
    }
}

/// Lists the runs of a project that failed and that nobody has continued or dismissed, newest first.
/// `known` are the runs whose results wait, which are listed with them.
pub(super) fn failed_runs(
    runs: &[IndexedRun],
    project: &Path,
    has_result: impl Fn(&IndexedRun) -> bool,
) -> Vec<StoppedRun> {
    let mut continued: HashSet<&SessionId> = HashSet::new();
    let mut failed = Vec::new();
    for run in runs.iter().rev().filter(|run| run.project == project) {
        // A later run of the session has taken its place.
        let is_latest = continued.insert(&run.session);
        let RunState::Over { status, at, .. } = run.state else {
            continue;
        };
        if status != Status::Failed || !is_latest || has_result(run) {
            continue;
        }
        let note = ReviewNote::read(&run.directory);
        // Another attempt at its task was picked.
        if note.is_dismissed || note.picked.is_some() {
            continue;
        }
        failed.push((run, at, note));
        if failed.len() == MOST {
            break;
        }
    }
    let rows = failed.into_iter().map(|(run, at, note)| {
        let row = RunRow::read(run).shortened();
        StoppedRun {
            kind: StopKind::of(&row.report),
            row,
            at,
            note,
            paused: None,
        }
    });
    rows.collect()
}

/// Lists the runs of a project that wait until somebody raises a budget, oldest first.
pub(super) fn paused_runs(runs: &[IndexedRun], places: &Places) -> Vec<StoppedRun> {
    let ledgers = Ledgers::of(&places.agent_dir);
    let open = runs
        .iter()
        .filter(|run| run.is_open() && run.project == places.project);
    let paused = open.filter_map(|run| {
        // A record that cannot be read says nothing.
        let summary = history(&run.directory, HeldMessages::LastText)
            .ok()?
            .summary;
        // A run that waits for room needs nobody.
        let waits_for = summary.waits_for.clone().filter(|_| !summary.lacks_room)?;
        let mut row = RunRow::read(run);
        row.take_progress(&summary);
        let used_up = used_up(&ledgers, &run.run);
        let words = match used_up.first() {
            Some(denial) => denial.to_string(),
            None => waits_for,
        };
        Some(StoppedRun {
            kind: StopKind::Limit,
            at: row.report.started_at.unwrap_or(run.accepted_at),
            note: ReviewNote::read(&run.directory),
            row: row.shortened(),
            paused: Some(PausedRun {
                words,
                used_up,
                question: None,
            }),
        })
    });
    paused.collect()
}

/// Gives paused runs the questions about their budgets, so that a run is listed once.
pub(super) fn take_budget_questions(
    paused: &mut [StoppedRun],
    questions: &mut Vec<WaitingQuestion>,
) {
    for run in paused {
        let is_its = |one: &WaitingQuestion| {
            one.run == run.row.report.run_id && one.asked.kind == QuestionKind::Budget
        };
        let place = questions.iter().position(is_its);
        if let (Some(paused), Some(place)) = (&mut run.paused, place) {
            paused.question = Some(questions.remove(place).asked);
        }
    }
}

/// Finds the budgets that have nothing left for a run.
pub(super) fn used_up(ledgers: &Ledgers, run: &RunId) -> Vec<BudgetDenial> {
    // A budget that cannot be read is reported by whoever raises it.
    let found = FoundBudget::find(ledgers, run.as_str()).unwrap_or_default();
    let now = Timestamp::now();
    let used_up = found
        .iter()
        .filter_map(|budget| budget.ledger.refusal(&budget.scope, run, now));
    used_up.collect()
}
