//! One run in the list: what the index knows, what its record tells, and what it does right now.

use std::time::Duration;

use pi_subagents_delegation::{RunEvent, RunSummary, Status, Timestamp, Usage};
use pi_subagents_sessions::{IndexedRun, RunState};
use pi_subagents_windows::{Line, PreviewContext, Room, Window, WindowLine, partial_lines};

use crate::runs::find::status_of;
use crate::runs::row::RunRow;

/// One run in the list.
#[derive(Debug, Clone)]
pub(crate) struct ListRow {
    pub(crate) run: IndexedRun,
    /// What is heard of it since it was first seen running.
    pub(crate) live: Option<Live>,
    /// What its record tells, once that was looked at.
    pub(crate) record: Record,
}

/// A run whose events are followed.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) window: Window,
    summary: RunSummary,
}

/// What the record of a run tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Unread,
    Read(Box<RunRow>),
    /// Somebody has deleted it.
    Gone,
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

    /// Returns the model that answers, without its provider.
    pub(crate) fn model(&self) -> Option<&str> {
        let live = self.live.as_ref().and_then(|live| live.window.model());
        live.or_else(|| self.recorded()?.model_id())
    }

    pub(crate) fn turns(&self) -> Option<usize> {
        self.live.as_ref().map(|live| live.window.answers())
    }

    pub(crate) fn usage(&self) -> Option<Usage> {
        match &self.live {
            Some(live) => Some(live.window.facts().usage),
            None => self.recorded()?.end.usage.map(Usage::from),
        }
    }

    /// Returns how long it has run, or ran.
    pub(crate) fn elapsed(&self, now: Timestamp) -> Option<Duration> {
        match (&self.live, self.recorded()) {
            (Some(live), _) => live.window.elapsed(now),
            (None, Some(recorded)) => recorded.lasted(now),
            (None, None) if self.run.is_open() => None,
            (None, None) => RunRow::of_index(&self.run).lasted(now),
        }
    }

    /// Returns what the run does right now, or what came of it. The message being written takes no more than
    /// `columns`.
    pub(crate) fn doing(&self, columns: usize) -> String {
        if self.record == Record::Gone {
            return "its record was deleted".to_owned();
        }
        let Some(live) = &self.live else {
            return self
                .recorded()
                .map(RunRow::outcome_line)
                .unwrap_or_default();
        };
        match self.status() {
            Status::Queued => "waiting for a free place".to_owned(),
            Status::Failed | Status::Aborted => live.window.error().unwrap_or_default(),
            Status::Running | Status::Completed => live
                .partial_lines(columns)
                .or_else(|| live.window.lines(1).last().map(WindowLine::text))
                .map(|line| line.trim_start().to_owned())
                .unwrap_or_default(),
        }
    }

    /// Returns whether a person who typed this means this run.
    pub(crate) fn matches(&self, filter: &str) -> bool {
        let definition = self.live.as_ref().and_then(|live| live.window.definition());
        let project = self.run.project.to_string_lossy();
        [
            self.run.name.as_str(),
            self.run.run.as_str(),
            self.run.session.as_str(),
            self.status().as_str(),
            self.model().unwrap_or_default(),
            definition.unwrap_or_default(),
            project.as_ref(),
        ]
        .iter()
        .any(|text| text.to_lowercase().contains(filter))
    }

    fn recorded(&self) -> Option<&RunRow> {
        match &self.record {
            Record::Read(row) => Some(row),
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

    /// Adds what was read of the run's record.
    pub(crate) fn apply(&mut self, events: &[RunEvent]) {
        self.summary.apply_all(events);
        self.window.apply(events, &self.summary);
    }

    fn partial_lines(&self, columns: usize) -> Option<String> {
        let said = partial_lines(self.window.partial()?, 1, columns);
        said.last().map(Line::text)
    }
}
