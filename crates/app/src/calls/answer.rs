//! The outcomes of a call, for every family, in the order of its tasks.

use std::collections::HashSet;
use std::sync::Arc;

use pi_subagents_delegation::{Ending, RunId, RunSummary, Task};
use pi_subagents_sessions::{Recorder, RunDir};
use serde_json::{Map, Value, json};

use super::run_json::run_json;
use super::window_record::WindowRecord;
use crate::calls::next_steps::Door;
use crate::calls::service::ToolAnswer;
use crate::calls::watch::Details;

/// What came of each task of a call, and what a person should know about it.
pub(crate) struct Outcomes {
    runs: Vec<Arc<RunSummary>>,
    pub(super) warnings: Vec<String>,
    /// Runs whose record may lack their answer: the disk did not take all of it.
    unrecorded: HashSet<RunId>,
    /// Where the answer is read.
    pub(super) door: Door,
}

/// The answer to a call, as its family words it.
pub(crate) struct Answer {
    pub(super) outcomes: Outcomes,
    /// The windows, where the door wants them.
    pub(super) windows: Option<WindowRecord>,
    pub(super) details: Details,
    /// What the caller's model reads.
    pub(super) text: String,
    /// What the family adds to the details.
    pub(super) more: Map<String, Value>,
}

impl Outcomes {
    pub(super) fn new(
        runs: Vec<Arc<RunSummary>>,
        mut warnings: Vec<String>,
        recorder: &Recorder,
        door: Door,
    ) -> Self {
        let mut unrecorded = HashSet::new();
        for task in runs.iter().filter_map(|run| run.task.as_ref()) {
            let problems = recorder.take_problems(&task.run);
            if problems.is_incomplete || !has_record(task) {
                unrecorded.insert(task.run.clone());
            }
            let sentences = problems.sentences.into_iter();
            warnings.extend(sentences.map(|problem| format!("{}: {problem}", task.name)));
        }
        for run in &runs {
            let name = run.task.as_ref().map_or("", |task| &task.name);
            warnings.extend(run.warnings.iter().map(|text| format!("{name}: {text}")));
        }
        Self {
            runs,
            warnings,
            unrecorded,
            door,
        }
    }

    /// Returns the tasks whose answer may not be found in their record, each with its answer.
    pub(super) fn unrecorded(&self) -> impl Iterator<Item = (&Task, &str)> {
        let unrecorded = |(task, _): &(&Task, &RunSummary)| self.unrecorded.contains(&task.run);
        let answers = self.iter().filter(unrecorded);
        answers.filter_map(|(task, run)| Some((task, run.output()?)))
    }

    /// Returns each task with what came of it, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Task, &RunSummary)> {
        self.runs
            .iter()
            .filter_map(|run| Some((run.task.as_deref()?, &**run)))
    }
}

/// Returns whether anything can be found of a run later.
fn has_record(task: &Task) -> bool {
    let directory = task.directory.as_ref().map(RunDir::new);
    directory.is_some_and(|directory| directory.meta().exists())
}

impl Answer {
    pub(crate) fn exit_codes(&self) -> impl Iterator<Item = i32> {
        self.outcomes()
            .iter()
            .map(|run| run.ending.as_ref().map_or(1, Ending::exit_code))
    }

    pub(crate) fn outcomes(&self) -> &[Arc<RunSummary>] {
        &self.outcomes.runs
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.outcomes.warnings
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether nothing was begun: no task of the call got as far as a child.
    fn is_refused(&self) -> bool {
        self.outcomes().iter().all(|run| {
            matches!(
                run.ending,
                Some(
                    Ending::Refused { .. }
                        | Ending::SessionInUse { .. }
                        | Ending::CouldNotStart { .. }
                )
            )
        })
    }

    /// Returns the answer of the tool, with the details that its door wants.
    pub(crate) fn to_tool_answer(&self) -> ToolAnswer {
        let mut details = match &self.windows {
            Some(windows) => windows.json(),
            None => self.ids_json(),
        };
        details.insert("runs".to_owned(), self.runs_json().into());
        details.insert("warnings".to_owned(), json!(self.outcomes.warnings));
        details.extend(self.more.clone());
        ToolAnswer {
            text: self.text.clone(),
            details: details.into(),
            usage: Some(self.outcomes().iter().map(|run| run.usage).sum()),
            is_refused: self.is_refused(),
        }
    }

    /// Returns one object per task, in their order.
    pub(crate) fn runs_json(&self) -> Vec<Value> {
        let has_outputs = self.details != Details::ForPi;
        let runs = self.outcomes.iter();
        runs.map(|(task, run)| run_json(task, run, has_outputs))
            .collect()
    }

    /// Returns what is known of a call without windows; it is over when there is an answer.
    fn ids_json(&self) -> Map<String, Value> {
        let sessions = self.outcomes.iter().map(|(task, _)| task.session.as_str());
        let sessions: Vec<&str> = sessions.collect();
        Map::from_iter([
            ("globalStatus".to_owned(), "done".into()),
            ("sessionIds".to_owned(), sessions.into()),
        ])
    }
}
