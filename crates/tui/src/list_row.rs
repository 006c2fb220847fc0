//! One run in the list: its line of the index, the facts of its record, and its present activity.

use std::time::Duration;

use pi_subagents_records::{IndexedRun, RunState, Used};
use pi_subagents_view::{Line, PreviewContext, Room, Window, WindowLine, partial_lines};
use pi_subagents_vocabulary::{Question, RunEvent, RunSummary, Status, Timestamp, Usage, text};

use super::sort_order::SortKey;
use pi_subagents_runs::find::status_of;
use pi_subagents_runs::row::RunRow;

/// The number of characters of a task that are held for the list and its filter. A list may have
/// ten thousand rows.
const TASK_CHARACTERS: usize = 1000;

/// One run in the list.
#[derive(Debug, Clone)]
pub(crate) struct ListRow {
    pub(crate) run: IndexedRun,
    /// The live state of the run, since it was first seen running.
    pub(crate) live: Option<Live>,
    /// The facts of its record, once it was read.
    pub(crate) record: Record,
}

/// A run whose events are followed.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) window: Window,
    summary: RunSummary,
}

/// The facts of a run's record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Unread,
    Read(Box<Recorded>),
    /// Somebody has deleted it.
    Gone,
}

/// The part of a record that the list shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    /// The beginning of its prompt, in one line.
    task: String,
    definition: Option<String>,
    /// The worker of a fleet that had it.
    worker: Option<String>,
    /// The sandbox in which it ran.
    sandbox: Option<String>,
    model: Option<String>,
    calls: Option<usize>,
    usage: Option<Usage>,
    lasted: Option<Duration>,
    /// The answer or the error of the run, in one line.
    outcome: String,
}

impl Recorded {
    /// Takes the fields that the list shows out of a finished run's row.
    pub(crate) fn of(row: &RunRow) -> Self {
        Self {
            task: task_line(row.report.task.as_deref().unwrap_or_default()),
            definition: row.report.agent.clone(),
            worker: row.report.worker.clone(),
            sandbox: row.report.shown_sandbox(),
            model: row.report.model.clone(),
            calls: row.report.tool_calls,
            usage: row.report.usage,
            lasted: row.lasted(Timestamp::UNIX_EPOCH),
            outcome: row.outcome_line(),
        }
    }
}

/// Returns the beginning of a prompt in one line.
fn task_line(prompt: &str) -> String {
    let beginning: String = prompt.chars().take(TASK_CHARACTERS).collect();
    text::one_line(&text::clean(&beginning))
}

impl ListRow {
    pub(crate) fn new(run: IndexedRun) -> Self {
        Self {
            run,
            live: None,
            record: Record::Unread,
        }
    }

    /// Returns the state of the run. Its own events know it before the index does.
    pub(crate) fn status(&self) -> Status {
        match (&self.live, self.run.state) {
            (Some(live), RunState::Open) => live.window.status(),
            (Some(_) | None, _) => status_of(&self.run),
        }
    }

    /// Returns whether more of its events are to come.
    pub(crate) fn is_unfinished(&self) -> bool {
        let is_live = |live: &Live| !live.window.status().is_over();
        self.record != Record::Gone && self.live.as_ref().is_some_and(is_live)
    }

    /// Returns whether the run can be steered or stopped.
    pub(crate) fn is_running(&self) -> bool {
        self.run.is_open() && !self.status().is_over()
    }

    /// Returns the first question that the run waits with.
    pub(crate) fn question(&self) -> Option<&Question> {
        self.live.as_ref()?.summary.questions.open().next()
    }

    /// Returns whether its record is still to be read for the list.
    pub(crate) fn is_unread(&self) -> bool {
        !self.run.is_open() && self.live.is_none() && self.record == Record::Unread
    }

    /// Returns the worker of a fleet that has the run, or had it.
    pub(crate) fn worker(&self) -> Option<&str> {
        let live = self.live.as_ref();
        let live = live.and_then(|live| live.window.facts().worker.as_deref());
        live.or_else(|| self.recorded()?.worker.as_deref())
    }

    /// Returns the sandbox of the run, if it has one.
    pub(crate) fn sandbox(&self) -> Option<String> {
        let live = self.live.as_ref();
        match live.and_then(|live| live.window.facts().task.as_ref()) {
            Some(task) => (!task.sandbox.is_off()).then(|| task.sandbox.shown()),
            None => self.recorded()?.sandbox.clone(),
        }
    }

    /// Returns the model that answers, without its provider.
    pub(crate) fn model(&self) -> Option<&str> {
        let live = self.live.as_ref().and_then(|live| live.window.model());
        live.or_else(|| self.recorded()?.model.as_deref())
    }

    /// Returns the beginning of its prompt, in one line.
    pub(crate) fn task(&self) -> String {
        let live = self.live.as_ref();
        let task = live.and_then(|live| live.window.facts().task.as_ref());
        match (task, self.recorded()) {
            (Some(task), _) => task_line(&task.prompt),
            (None, Some(recorded)) => recorded.task.clone(),
            (None, None) => String::new(),
        }
    }

    /// Returns how often it has called a tool.
    pub(crate) fn calls(&self) -> Option<usize> {
        match &self.live {
            Some(live) => Some(live.window.facts().tool_calls),
            None => match self.used() {
                Some(used) => Some(used.calls),
                None => self.recorded()?.calls,
            },
        }
    }

    pub(crate) fn usage(&self) -> Option<Usage> {
        match &self.live {
            Some(live) => Some(live.window.facts().usage),
            None => match self.used() {
                Some(used) => Some(used.usage),
                None => self.recorded()?.usage,
            },
        }
    }

    /// Returns whether it is known to have cost something.
    pub(crate) fn has_cost(&self) -> bool {
        let cost = self.usage().and_then(|usage| usage.cost);
        cost.is_some_and(|cost| cost > 0.0)
    }

    /// Returns how long it has run, or ran.
    pub(crate) fn elapsed(&self, now: Timestamp) -> Option<Duration> {
        match (&self.live, self.recorded()) {
            (Some(live), _) => live.window.elapsed(now),
            (None, Some(recorded)) => recorded.lasted,
            (None, None) if self.run.is_open() => None,
            (None, None) => RunRow::of_index(&self.run).lasted(now),
        }
    }

    /// Returns the present activity of the run, or its outcome. The partial message takes no more
    /// than `columns`.
    pub(crate) fn doing(&self, columns: usize) -> String {
        if self.record == Record::Gone {
            return "its record was deleted".to_owned();
        }
        let Some(live) = &self.live else {
            let recorded = self.recorded();
            return recorded.map_or_else(String::new, |recorded| recorded.outcome.clone());
        };
        match self.status() {
            Status::Queued => match &live.summary.waits_for {
                Some(wait) => format!("waits: {wait}"),
                None => "queued until another run ends".to_owned(),
            },
            Status::Parked | Status::Failed | Status::Stopped => {
                live.window.error().unwrap_or_default()
            }
            Status::Running | Status::Waiting | Status::Completed => live
                .partial_lines(columns)
                .or_else(|| live.window.lines(1).last().map(WindowLine::text))
                .map(|line| line.trim_start().to_owned())
                .unwrap_or_default(),
        }
    }

    /// Returns whether a person who typed this, in small letters, means this run.
    pub(crate) fn matches(&self, filter: &str) -> bool {
        let live = self.live.as_ref();
        let definition = live.and_then(|live| live.window.definition());
        let definition = definition.or_else(|| self.recorded()?.definition.as_deref());
        let project = self.run.project.to_string_lossy();
        let has = |text: &str| text.to_lowercase().contains(filter);
        has(&self.run.name)
            || has(self.run.run.as_str())
            || has(self.run.session.as_str())
            || has(self.status().as_str())
            || has(self.model().unwrap_or_default())
            || has(self.worker().unwrap_or_default())
            || has(definition.unwrap_or_default())
            || has(&project)
            || has(&self.task())
    }

    /// Returns the key of its place in the list.
    pub(crate) fn sort_key(&self) -> SortKey {
        SortKey {
            sequence: self.run.sequence,
            is_open: self.run.is_open(),
            status: self.status(),
            cost: self.usage().and_then(|usage| usage.cost),
        }
    }

    /// Returns the tokens and calls of a finished run, as far as the index has them.
    fn used(&self) -> Option<Used> {
        match self.run.state {
            RunState::Over { used, .. } => used,
            RunState::Open => None,
        }
    }

    fn recorded(&self) -> Option<&Recorded> {
        match &self.record {
            Record::Read(recorded) => Some(recorded),
            Record::Unread | Record::Gone => None,
        }
    }
}

impl Live {
    pub(crate) fn new(run: &IndexedRun, context: PreviewContext) -> Self {
        let window = Window::new(run.run.clone(), context);
        Self {
            window: window.with_room(Room::LAST_LINE),
            summary: RunSummary::without_text(),
        }
    }

    /// Adds events from the run's record.
    pub(crate) fn apply(&mut self, events: &[RunEvent]) {
        self.summary.apply_all(events);
        self.window.apply(events, &self.summary);
    }

    fn partial_lines(&self, columns: usize) -> Option<String> {
        let said = partial_lines(self.window.partial()?, 1, columns);
        said.last().map(Line::text)
    }
}
