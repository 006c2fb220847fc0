//! The inbox: the questions of all runs of the user that wait for an answer, and of those that were
//! parked because nobody answered.

use pi_subagents_records::{IndexedRun, RunDir, RunState, history};
use pi_subagents_vocabulary::{AskedQuestion, HeldMessages, QuestionId, RunId, SessionId, Status};
use schemars::JsonSchema;
use serde::Serialize;

use crate::known_index::KnownIndex;
use crate::row::RunRow;
use pi_subagents_records::FindError;

/// The number of ended runs, the newest, among which an answered question is looked for.
const ENDED_RUNS: usize = 200;

/// A question with the run that asks it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxQuestion {
    /// The question.
    #[serde(flatten)]
    pub asked: AskedQuestion,
    /// The run that asks it.
    pub run_id: RunId,
    /// The session of the run.
    pub session_id: SessionId,
    /// The name of the task.
    pub name: String,
    /// The path of agents that leads to the run.
    pub path: String,
    /// True if the run was parked: an answer continues it.
    pub parked: bool,
    /// The line of the run in the index.
    #[serde(skip)]
    pub run: IndexedRun,
}

/// Returns the open questions of all runs, the oldest first.
pub fn open_questions(index: &KnownIndex) -> Result<Vec<InboxQuestion>, FindError> {
    let runs = index.runs()?;
    let asking = runs.iter().filter(|run| may_ask(run));
    let mut found: Vec<InboxQuestion> = asking
        .flat_map(questions_of)
        .filter(|question| question.asked.is_open())
        .collect();
    found.retain(|question| !question.parked || !is_continued(&question.run, &runs));
    found.sort_by_key(|question| question.asked.question.asked_at);
    Ok(found)
}

/// Returns the questions with this id: open ones, or else those that are no longer open.
pub fn find_question(index: &KnownIndex, id: &QuestionId) -> Result<Vec<InboxQuestion>, FindError> {
    let of_id = |question: &InboxQuestion| question.asked.question.id == *id;
    let mut open = open_questions(index)?;
    open.retain(of_id);
    if !open.is_empty() {
        return Ok(open);
    }
    let runs = index.runs()?;
    let known = runs.iter().rev().take(ENDED_RUNS);
    Ok(known.flat_map(questions_of).filter(of_id).take(1).collect())
}

/// Returns the questions of one run.
pub fn questions_of(run: &IndexedRun) -> Vec<InboxQuestion> {
    let mut row = RunRow::read(run);
    if run.is_open() {
        take_events(&mut row, &run.directory);
    }
    let parked = row.report.status == Status::Parked;
    let questions = std::mem::take(&mut row.report.questions).into_iter();
    let question = |asked| InboxQuestion {
        asked,
        run_id: run.run.clone(),
        session_id: run.session.clone(),
        name: row.report.name.clone(),
        path: path_of(&row),
        parked,
        run: run.clone(),
    };
    questions.map(question).collect()
}

/// Returns the path of agents that leads to a run.
fn path_of(row: &RunRow) -> String {
    format!("main ▸ {}", row.report.name)
}

fn take_events(row: &mut RunRow, directory: &RunDir) {
    // A record that cannot be read has no questions.
    if let Ok(history) = history(directory, HeldMessages::LastText) {
        row.take_progress(&history.summary);
    }
}

/// Returns whether a run may have an open question.
pub fn may_ask(run: &IndexedRun) -> bool {
    match run.state {
        RunState::Open => true,
        RunState::Over { status, .. } => status == Status::Parked,
    }
}

/// Returns whether a later run has gone on with the session of a parked run.
fn is_continued(run: &IndexedRun, runs: &[IndexedRun]) -> bool {
    runs.iter()
        .any(|other| other.session == run.session && other.sequence > run.sequence)
}
