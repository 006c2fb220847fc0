//! The outcomes of a call, for every family, in the order of its tasks.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_records::{Recorder, RunDir, history};
use pi_subagents_vocabulary::text::{cut_characters, one_line};
use pi_subagents_vocabulary::{
    Ending, HeldMessages, LAST_TEXT_LIMIT, PickedAttempt, RunId, RunSummary, SCHEMA_VERSION, Task,
    Usage,
};
use serde_json::{Map, Value, json};

use super::call::Worded;
use super::questions::question_lines;
use super::window_record::WindowRecord;
use crate::result_lines::result_lines;
use crate::service::ToolAnswer;
use crate::shared_room::{ROOM, beginning, shares};
use crate::watch::Details;
use pi_subagents_runs::row::{RunRow, shown_task};
use pi_subagents_runs::workspace::Workspace;
use pi_subagents_vocabulary::Door;

/// The outcome of each task of a call, with warnings for a person.
pub struct Outcomes {
    runs: Vec<Arc<RunSummary>>,
    pub(super) warnings: Vec<String>,
    /// Runs whose record may lack their answer: the disk did not take all of it.
    unrecorded: HashSet<RunId>,
    /// The worktrees of the runs that had one of their own.
    worktrees: Worktrees,
    /// The outcomes of tasks that were tried several times.
    picked: Vec<PickedAttempt>,
    /// The door at which the answer is read.
    pub(super) door: Door,
    /// The project of the caller.
    project: PathBuf,
}

/// The worktrees of a call whose runs had one of their own.
#[derive(Debug, Default)]
pub(super) struct Worktrees {
    pub(super) of_runs: HashMap<RunId, Workspace>,
    /// The table of which results fit the checkout and each other, if there are several.
    pub(super) matrix: Option<String>,
}

/// Returns the error of a run that did not complete.
fn error(run: &Arc<RunSummary>) -> Option<String> {
    run.ending.as_ref()?.message()
}

/// The answer to a call, as its family words it.
pub struct Answer {
    pub(super) outcomes: Outcomes,
    /// The windows, where the door wants them.
    pub(super) windows: Option<WindowRecord>,
    pub(super) details: Details,
    pub(super) worded: Worded,
    /// The warnings that its door has shown before the runs began.
    pub(super) shown: Vec<String>,
}

impl Outcomes {
    pub(super) fn new(
        runs: Vec<Arc<RunSummary>>,
        mut warnings: Vec<String>,
        recorder: &Recorder,
        door: Door,
        project: &Path,
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
            // The reason why the end of a run was not seen stands where the run is named.
            let unseen = run.unseen().unwrap_or_default();
            let news = run.warnings.iter().filter(|text| !unseen.contains(*text));
            warnings.extend(news.map(|text| format!("{name}: {text}")));
        }
        let errors: Vec<String> = runs.iter().filter_map(error).collect();
        // The reason why a run failed is read where the run is named, and not a second time.
        warnings.retain(|warning| !errors.iter().any(|error| error.contains(warning.as_str())));
        Self {
            runs,
            warnings,
            unrecorded,
            worktrees: Worktrees::default(),
            picked: Vec::new(),
            door,
            project: project.to_owned(),
        }
    }

    /// Adds the worktrees of runs.
    pub(super) fn with_worktrees(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = worktrees;
        self
    }

    /// Adds the outcomes of tasks that were tried several times. The attempt that was picked comes
    /// before the others.
    pub(super) fn with_picked(mut self, picked: Vec<PickedAttempt>) -> Self {
        for task in &picked {
            let Ok((winner, _)) = &task.outcome else {
                continue;
            };
            let place = |run: &RunId| {
                let of_run =
                    |one: &Arc<RunSummary>| one.task.as_ref().is_some_and(|task| task.run == *run);
                self.runs.iter().position(of_run)
            };
            let first = task.runs.iter().filter_map(place).min();
            if let Some((first, winner)) = first.zip(place(winner)) {
                let winner = self.runs.remove(winner);
                self.runs.insert(first, winner);
            }
        }
        self.picked = picked;
        self
    }

    /// Returns the part of a run in several attempts at one task.
    pub(super) fn attempt(&self, task: &Task) -> AttemptPart {
        let mut parts = self.picked.iter();
        let part = parts.find_map(|picked| attempt_part(picked, &task.run));
        part.unwrap_or(AttemptPart::None)
    }

    /// Returns a line for each task that was tried several times: who was picked and why.
    pub(super) fn picked_lines(&self) -> Vec<String> {
        let name_of = |run: &RunId| {
            let named = self.iter().find(|(task, _)| task.run == *run);
            named.map_or_else(|| run.to_string(), |(task, _)| one_line(&task.name))
        };
        let line = |picked: &PickedAttempt| {
            let (task, all) = (one_line(&picked.task), picked.runs.len());
            match &picked.outcome {
                Ok((winner, why)) => format!("{task}: picked {} of {all}: {why}", name_of(winner)),
                Err(why) => format!("{task}: picked none of {all}: {why}"),
            }
        };
        self.picked.iter().map(line).collect()
    }

    /// Returns which results fit the checkout and each other, as a table, if there are several.
    pub(super) fn matrix(&self) -> Option<&str> {
        self.worktrees.matrix.as_deref()
    }

    /// Returns the worktree of a task, if it had one of its own.
    pub(super) fn worktree(&self, task: &Task) -> Option<&Workspace> {
        self.worktrees.of_runs.get(&task.run)
    }

    /// Returns the tasks whose answer may not be found in their record, each with its answer.
    pub(super) fn unrecorded(&self) -> impl Iterator<Item = (&Task, &str)> {
        let unrecorded = |(task, _): &(&Task, &RunSummary)| self.unrecorded.contains(&task.run);
        let answers = self.iter().filter(unrecorded);
        answers.filter_map(|(task, run)| Some((task, run.output()?)))
    }

    /// Returns the questions that the run of a task waits with, each with the way to answer it.
    pub(super) fn question_lines(&self, task: &Task, run: &RunSummary) -> Vec<String> {
        let open = run.questions.open().filter(|_| run.ending.is_none());
        open.flat_map(|question| question_lines(&task.name, question, self.door))
            .collect()
    }

    /// Returns the answers as far as there is room for them, in the order of the tasks, each with
    /// the way to read on. Only a client of the protocol has little room; others get all of it.
    pub(super) fn shared_outputs(&self) -> Vec<Option<String>> {
        let outputs = self.outputs().into_iter().zip(self.iter());
        outputs
            .map(|(output, (task, _))| {
                let (output, share) = output?;
                Some(beginning(&output, share, task.session.as_str(), self.door))
            })
            .collect()
    }

    /// Returns the answers in the order of the tasks, each with the number of its characters for
    /// which there is room.
    fn outputs(&self) -> Vec<Option<(String, usize)>> {
        let whole = self.iter().map(|(task, run)| whole_output(task, run));
        let outputs: Vec<Option<String>> = whole
            .map(|output| output.map(|output| output.trim_end().to_owned()))
            .collect();
        let length =
            |output: &Option<String>| output.as_ref().map_or(0, |text| text.chars().count());
        let lengths: Vec<usize> = outputs.iter().map(length).collect();
        let room = match self.door {
            Door::Mcp => ROOM,
            Door::CommandLine | Door::Pi | Door::PiCommand | Door::Attach | Door::Page => {
                usize::MAX
            }
        };
        let shares = shares(&lengths, room);
        let outputs = outputs.into_iter().zip(shares);
        outputs
            .map(|(output, share)| Some((output?, share)))
            .collect()
    }

    /// Returns each task with its outcome, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Task, &RunSummary)> {
        self.runs
            .iter()
            .filter_map(|run| Some((run.task.as_deref()?, &**run)))
    }
}

/// The part of a run in several attempts at one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptPart {
    /// It is no attempt, or no attempt was picked.
    None,
    /// It was picked.
    Picked,
    /// Another one was picked. A judge may have said why.
    Left(Option<String>),
    /// It judged the attempts.
    Judge,
}

fn attempt_part(picked: &PickedAttempt, run: &RunId) -> Option<AttemptPart> {
    if picked.judge.as_ref() == Some(run) {
        return Some(AttemptPart::Judge);
    }
    if !picked.runs.contains(run) {
        return None;
    }
    let (winner, _) = picked.outcome.as_ref().ok()?;
    let remark = picked.remarks.iter().find(|(about, _)| about == run);
    Some(if winner == run {
        AttemptPart::Picked
    } else {
        AttemptPart::Left(remark.map(|(_, why)| why.clone()))
    })
}

/// Returns the line of an attempt that another one was picked before.
pub fn left_attempt_line(task: &Task, run: &RunSummary, why: Option<&str>) -> String {
    let (name, session) = (one_line(&task.name), &task.session);
    let how = run.status().as_str();
    let why = why.map_or_else(String::new, |why| format!(" — {}", one_line(why)));
    format!("– {name}: not picked, {how}{why} (session: {session})")
}

/// Returns the whole answer of a run. Memory holds only the beginning of a very long text, so the
/// rest is read from the record.
pub fn whole_output<'a>(task: &Task, run: &'a RunSummary) -> Option<Cow<'a, str>> {
    let held = run.output()?;
    let is_cut = run.finalized.is_none() && held.len() > LAST_TEXT_LIMIT;
    let directory = task.directory.as_ref().filter(|_| is_cut);
    let recorded = directory
        .and_then(|directory| history(&RunDir::new(directory), HeldMessages::LastText).ok());
    match recorded.and_then(|recorded| recorded.output()) {
        Some(whole) if whole.len() > held.len() => Some(whole.into()),
        Some(_) | None => Some(held.into()),
    }
}

/// Returns whether anything can be found of a run later.
fn has_record(task: &Task) -> bool {
    let directory = task.directory.as_ref().map(RunDir::new);
    directory.is_some_and(|directory| directory.meta().exists())
}

impl Answer {
    pub fn exit_codes(&self) -> impl Iterator<Item = i32> {
        let counted = self.tasks().filter(|(task, _)| self.counts(task));
        counted.map(|(_, run)| run.ending.as_ref().map_or(1, Ending::exit_code))
    }

    /// Returns whether the end of a run counts for the call: an attempt before which another one was
    /// picked does not.
    pub fn counts(&self, task: &Task) -> bool {
        match self.attempt(task) {
            AttemptPart::Left(_) => false,
            AttemptPart::None | AttemptPart::Picked | AttemptPart::Judge => true,
        }
    }

    /// Returns the part of a run in several attempts at one task.
    pub fn attempt(&self, task: &Task) -> AttemptPart {
        self.outcomes.attempt(task)
    }

    /// Returns a line for each task that was tried several times: who was picked and why.
    pub fn picked_lines(&self) -> Vec<String> {
        self.outcomes.picked_lines()
    }

    pub fn outcomes(&self) -> &[Arc<RunSummary>] {
        &self.outcomes.runs
    }

    pub fn warnings(&self) -> &[String] {
        &self.outcomes.warnings
    }

    pub fn text(&self) -> &str {
        &self.worded.text
    }

    /// Returns the text as one document with all answers in it, if the family writes one.
    pub fn document(&self) -> Option<&str> {
        self.worded.has_answers.then_some(self.text())
    }

    /// Returns the notices for a person who does not read the text: the warnings that were not shown
    /// before, and the notices of the family.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        let warnings = self.outcomes.warnings.iter();
        let news = warnings.filter(|warning| !self.shown.contains(warning));
        news.chain(&self.worded.notices).map(String::as_str)
    }

    /// Leaves warnings out of the notices that a person has read already.
    #[must_use]
    pub fn after_showing(self, shown: Vec<String>) -> Self {
        Self { shown, ..self }
    }

    /// Returns each task with its outcome, in their order.
    pub fn tasks(&self) -> impl Iterator<Item = (&Task, &RunSummary)> {
        self.outcomes.iter()
    }

    /// Returns which results fit the checkout and each other, as a table, if there are several.
    pub fn matrix(&self) -> Option<&str> {
        self.outcomes.matrix()
    }

    /// Returns the worktree of a task, if it had one of its own.
    pub fn worktree(&self, task: &Task) -> Option<&Workspace> {
        self.outcomes.worktree(task)
    }

    /// Returns whether the record of a task has all that is needed to read or continue it.
    pub fn is_recorded(&self, task: &Task) -> bool {
        !self.outcomes.unrecorded.contains(&task.run)
    }

    /// Returns one row per task, in their order, each with the whole answer.
    pub fn rows(&self) -> Vec<RunRow> {
        let rows = self.tasks().filter_map(|(task, run)| {
            let row = RunRow::of_outcome(run, self.worktree(task), &self.outcomes.project)?;
            Some(row.with_output(whole_output(task, run).map(Cow::into_owned)))
        });
        rows.collect()
    }

    /// Returns the fields of the tool's details beside the runs.
    pub fn details_beside_runs(&self) -> Map<String, Value> {
        let mut details = match &self.windows {
            Some(windows) => windows.json(),
            None => self.ids_json(),
        };
        let results = result_lines(&self.outcomes);
        if self.details == Details::ForPi && !results.is_empty() {
            let lines = results.iter();
            let lines = lines.map(|line| json!([{"text": line, "role": "muted"}]));
            details.insert("results".to_owned(), lines.collect());
        }
        details.insert("warnings".to_owned(), json!(self.outcomes.warnings));
        details.extend(self.worded.details.clone());
        details
    }

    /// Returns whether nothing was begun: no task of the call got as far as a child.
    fn is_refused(&self) -> bool {
        self.outcomes().iter().all(|run| {
            matches!(
                run.ending,
                Some(
                    Ending::Refused { .. }
                        | Ending::NotStarted { .. }
                        | Ending::SessionInUse { .. }
                        | Ending::CouldNotStart { .. }
                        | Ending::NotConfined { .. }
                )
            )
        })
    }

    /// Returns the answer of the tool, with the details that its door wants.
    pub(crate) fn to_tool_answer(&self) -> ToolAnswer {
        let mut details = self.details_beside_runs();
        details.insert("runs".to_owned(), json!(self.detailed_rows()));
        if self.details != Details::ForPi {
            details.insert("schemaVersion".to_owned(), SCHEMA_VERSION.into());
        }
        ToolAnswer {
            text: self.worded.text.clone(),
            details: details.into(),
            usage: Some(self.usage()),
            is_refused: self.is_refused(),
        }
    }

    /// Returns the tokens and the cost of the runs that are over. Those that wait are counted in the
    /// answer that has their end.
    fn usage(&self) -> Usage {
        let over = self.outcomes().iter().filter(|run| run.ending.is_some());
        over.map(|run| run.usage).sum()
    }

    /// Returns the rows for the details of the tool. pi keeps them in its session, so they have
    /// neither the prompts nor the answers there, which the messages of the session have. A client
    /// of MCP gets answers as far as the text has them, and reads the rest by its id; of a prompt,
    /// which it wrote itself, it gets the beginning.
    fn detailed_rows(&self) -> Vec<RunRow> {
        let mut rows = self.rows();
        match (self.details, self.outcomes.door) {
            (Details::ForPi, _) => {
                for row in &mut rows {
                    row.report.task = None;
                    row.report.output = None;
                    row.artifacts = None;
                }
            }
            (_, Door::Mcp) => {
                for (row, shared) in rows.iter_mut().zip(self.outcomes.outputs()) {
                    let shared = shared.map(|(output, share)| cut_characters(&output, share));
                    row.report.output = shared;
                    row.report.task = row.report.task.as_deref().map(shown_task);
                }
            }
            (_, _) => {}
        }
        rows
    }

    fn global_status(&self) -> &'static str {
        if self.outcomes().iter().all(|run| run.ending.is_some()) {
            "done"
        } else {
            "running"
        }
    }

    /// Returns the ids of a call without windows.
    fn ids_json(&self) -> Map<String, Value> {
        let sessions = self.outcomes.iter().map(|(task, _)| task.session.as_str());
        let sessions: Vec<&str> = sessions.collect();
        Map::from_iter([
            ("globalStatus".to_owned(), self.global_status().into()),
            ("sessionIds".to_owned(), sessions.into()),
        ])
    }
}
