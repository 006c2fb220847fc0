//! One run in the list: what the index knows, what its record tells, and what it does right now.

use std::time::Duration;

use pi_subagents_delegation::{RunEvent, RunSummary, Status, Timestamp, Usage, text};
use pi_subagents_sessions::{IndexedRun, RecordedRun, RunState};
use pi_subagents_windows::{Line, PreviewContext, Room, Window, WindowLine, partial_lines};

use crate::runs::find::status_of;

/// More of what a run said is never shown in a list.
const LONGEST_DOING: usize = 400;

/// One run in the list.
#[derive(Debug, Clone)]
pub(crate) struct RunRow {
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
    Read(Facts),
    /// Somebody has deleted it.
    Gone,
}

/// What a list shows of a run that is over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) model: Option<String>,
    pub(crate) lasted: Option<Duration>,
    pub(crate) usage: Usage,
    /// What went wrong, else what it answered, in one line.
    pub(crate) came_of_it: String,
}

impl RunRow {
    pub(crate) fn new(run: IndexedRun) -> Self {
        Self {
            run,
            live: None,
            record: Record::Unread,
        }
    }

    /// The run's state: its own events know it before the index does.
    pub(crate) fn status(&self) -> Status {
        match (&self.live, self.run.state) {
            (Some(live), RunState::Open) => live.window.status(),
            (Some(_) | None, _) => status_of(&self.run),
        }
    }

    /// The model that answers, without its provider.
    pub(crate) fn model(&self) -> Option<&str> {
        let live = self.live.as_ref().and_then(|live| live.window.model());
        live.or_else(|| self.facts()?.model.as_deref())
    }

    pub(crate) fn turns(&self) -> Option<usize> {
        self.live.as_ref().map(|live| live.window.answers())
    }

    pub(crate) fn usage(&self) -> Option<Usage> {
        match &self.live {
            Some(live) => Some(live.window.facts().usage),
            None => Some(self.facts()?.usage),
        }
    }

    /// How long it has run, or ran.
    pub(crate) fn elapsed(&self, now: Timestamp) -> Option<Duration> {
        if let Some(live) = &self.live {
            return live.window.elapsed(now);
        }
        match self.run.state {
            RunState::Open => None,
            RunState::Over { at, .. } => {
                self.facts().and_then(|facts| facts.lasted).or_else(|| {
                    let lasted = at.duration_since(self.run.accepted_at);
                    Duration::try_from(lasted).ok()
                })
            }
        }
    }

    /// What it does right now, or what came of it; what it is partial in no more than `columns`.
    pub(crate) fn doing(&self, columns: usize) -> String {
        if self.record == Record::Gone {
            return "its record is gone".to_owned();
        }
        let Some(live) = &self.live else {
            return self
                .facts()
                .map(|facts| facts.came_of_it.clone())
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

    /// Tells whether a person who typed this means this run.
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

    fn facts(&self) -> Option<&Facts> {
        match &self.record {
            Record::Read(facts) => Some(facts),
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

impl Facts {
    pub(crate) fn of(record: &RecordedRun) -> Self {
        let end = record.end.as_ref();
        let answered = end.and_then(|end| end.model.as_deref());
        let model = answered.or(record.model.as_deref());
        let said = end.and_then(|end| end.error_message.as_deref().or(end.output.as_deref()));
        Self {
            model: model.map(|model| {
                model
                    .rsplit_once('/')
                    .map_or(model, |(_, id)| id)
                    .to_owned()
            }),
            lasted: end.and_then(|end| {
                let started: Timestamp = end.started_at.as_ref()?.parse().ok()?;
                let ended: Timestamp = end.ended_at.parse().ok()?;
                Duration::try_from(ended.duration_since(started)).ok()
            }),
            usage: end.map(|end| end.usage).unwrap_or_default(),
            came_of_it: said.map(beginning).unwrap_or_default(),
        }
    }
}

fn beginning(text: &str) -> String {
    let beginning = &text[..text.floor_char_boundary(LONGEST_DOING)];
    text::one_line(&text::clean(beginning))
}
