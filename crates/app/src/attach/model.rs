//! The model of the screen: a fold over everything that happens.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crossterm::event::KeyEvent;
use pi_subagents_delegation::{PartialMessage, RunEvent, RunId, SessionId, Status, Timestamp};
use pi_subagents_engine::Extent;
use pi_subagents_sessions::{IndexedRun, RunDir};
use pi_subagents_windows::{Counts, PreviewContext, Role};

use super::layout::Layout;
use super::line_editor::LineEditor;
use super::list_row::{ListRow, Live, Record};
use super::opened::{Opened, Output};

/// How many runs that are over stand in the list; `status --all` has them all.
const MAX_OVER: usize = 200;

/// How long a view that leaves by itself stays when its runs are over.
const STAYS: Duration = Duration::from_secs(3);

/// Everything the screen shows.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) scope: Scope,
    /// The project we were started in.
    pub(crate) project: PathBuf,
    pub(crate) context: PreviewContext,
    /// Columns and rows.
    pub(crate) size: (u16, u16),
    /// The runs under way first, then the finished ones, the latest first.
    pub(crate) rows: Vec<ListRow>,
    /// How many more are over than the list holds.
    pub(crate) older: usize,
    pub(crate) is_loaded: bool,
    pub(crate) selected: Option<RunId>,
    /// Whether a person has pressed any key, and so may have meant what is selected.
    pub(super) has_been_touched: bool,
    pub(crate) opened: Option<Opened>,
    /// How many windows were opened so far.
    openings: u64,
    pub(crate) focus: Focus,
    /// Whether the window has the whole screen.
    pub(crate) is_zoomed: bool,
    pub(crate) mode: Mode,
    /// A message to a run that somebody has begun to type and has not sent.
    pub(super) draft: Option<(RunId, LineEditor)>,
    /// In small letters.
    pub(crate) filter: String,
    pub(crate) notice: Option<Notice>,
    pub(crate) leaving: Leaving,
}

/// Which runs are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All runs under way, and the finished ones of this project.
    Project(PathBuf),
    Session(SessionId),
    Run(RunId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Window,
}

/// What keys mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    Browsing,
    Help,
    Filtering(LineEditor),
    Steering(RunId, LineEditor),
    /// Asks whether this run is really to be stopped.
    Confirming(RunId),
}

/// When the view leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    WhenTold,
    /// Shortly after all its runs are over; the time is when the last one ended.
    WhenOver(Option<Timestamp>),
}

/// A sentence for the person at the screen, until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) role: Role,
    pub(crate) text: String,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Message {
    Pressed(KeyEvent),
    Pasted(String),
    Resized(u16, u16),
    /// The index was read: the runs in scope, and how many more are over than the list holds.
    IndexRead(Vec<IndexedRun>, usize),
    /// The record of a run has grown by these events.
    RecordGrew(Subject, Vec<RunEvent>),
    /// Somebody has deleted the record of a run.
    RecordGone(RunId),
    /// The records of these finished runs were read.
    RecordsRead(Vec<(RunId, Record)>),
    /// The message that the model of a run is writing has grown.
    Partial(RunId, PartialMessage),
    /// The answer of a run was read, as far as there is one.
    AnswerRead(RunId, Option<String>),
    /// A request to an owner is finished, and this is its outcome.
    Finished(Notice),
    /// A second has passed.
    Tick,
}

/// For whose sake a record is followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    Row(RunId),
    /// A window, with the number of its opening, so that late events for an earlier window of the
    /// same run are dropped.
    Window(RunId, u64),
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    Leave,
    /// The index is to be read again: other runs are in scope now.
    Look,
    Steer(IndexedRun, String),
    Stop(IndexedRun),
    ReadAnswer(IndexedRun),
}

impl Model {
    pub(crate) fn new(
        scope: Scope,
        project: PathBuf,
        context: PreviewContext,
        size: (u16, u16),
    ) -> Self {
        let is_one = matches!(scope, Scope::Run(_));
        Self {
            scope,
            project,
            context,
            size,
            rows: Vec::new(),
            older: 0,
            is_loaded: false,
            selected: None,
            has_been_touched: false,
            opened: None,
            openings: 0,
            focus: if is_one { Focus::Window } else { Focus::List },
            is_zoomed: is_one,
            mode: Mode::Browsing,
            draft: None,
            filter: String::new(),
            notice: None,
            leaving: Leaving::WhenTold,
        }
    }

    /// Returns the model with another rule for when the view closes.
    pub(crate) fn leaving(self, leaving: Leaving) -> Self {
        Self { leaving, ..self }
    }

    /// Takes one more message, and returns what is to be done about it.
    pub(crate) fn update(&mut self, message: Message, now: Timestamp) -> Option<Effect> {
        match message {
            Message::Pressed(key) => return self.pressed(key),
            Message::Pasted(text) => self.pasted(&text),
            Message::Resized(columns, rows) => self.size = (columns, rows),
            Message::IndexRead(runs, older) => self.take_index(runs, older),
            Message::RecordGrew(subject, events) => self.apply(&subject, &events),
            Message::RecordGone(run) => self.note_gone(&run),
            Message::RecordsRead(records) => self.take_records(records),
            Message::Partial(run, message) => self.show_partial(&run, message),
            Message::AnswerRead(run, text) => self.take_answer(&run, text),
            Message::Finished(notice) => self.notice = Some(notice),
            Message::Tick => {}
        }
        self.leaves_now(now).then_some(Effect::Leave)
    }

    /// Returns the rows that fit the filter.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &ListRow> {
        self.rows
            .iter()
            .filter(|row| self.filter.is_empty() || row.matches(&self.filter))
    }

    pub(crate) fn selected_row(&self) -> Option<&ListRow> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().find(|row| row.run.run == *selected)
    }

    /// Returns the rows on the screen, and the place of the first among all listed rows.
    pub(crate) fn seen_rows(&self) -> (usize, Vec<&ListRow>) {
        let height = usize::from(Layout::of(self).list.height);
        let listed: Vec<&ListRow> = self.listed().collect();
        let selected = self.place_of_selected(&listed).unwrap_or(0);
        let last_first = listed.len().saturating_sub(height);
        let first = selected.saturating_sub(height / 2).min(last_first);
        let seen = listed.into_iter().skip(first).take(height).collect();
        (first, seen)
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in &self.rows {
            counts.add(row.status());
        }
        counts
    }

    /// Returns the records that are to be followed.
    pub(crate) fn followed(&self) -> HashMap<Subject, RunDir> {
        // The index may know of an end before the last events were read.
        let unfinished = self.rows.iter().filter(|row| row.is_unfinished());
        let rows = unfinished.map(|row| (Subject::Row(row.run.run.clone()), &row.run.directory));
        let opened = self.opened.iter();
        let window = opened.map(|opened| {
            let subject = Subject::Window(opened.run.run.clone(), opened.number);
            (subject, &opened.run.directory)
        });
        rows.chain(window)
            .map(|(subject, directory)| (subject, directory.clone()))
            .collect()
    }

    /// Returns the runs whose models are followed while they write: for the open window the whole
    /// message, for the other rows on the screen just its newest words.
    pub(crate) fn partially_read(&self) -> HashMap<(RunId, Extent), IndexedRun> {
        let opened = self.opened.iter().filter(|opened| {
            let is_over = opened.window.status().is_over();
            opened.run.is_open() && !is_over
        });
        let opened = opened.map(|opened| (&opened.run, Extent::Whole));
        let (_, seen) = self.seen_rows();
        let rows = seen
            .into_iter()
            .filter(|row| row.is_running() && self.selected.as_ref() != Some(&row.run.run))
            .map(|row| (&row.run, Extent::Newest));
        opened
            .chain(rows)
            .map(|(run, extent)| ((run.run.clone(), extent), run.clone()))
            .collect()
    }

    /// Returns the finished runs on the screen whose records were not read yet.
    pub(crate) fn unread(&self) -> Vec<IndexedRun> {
        let (_, seen) = self.seen_rows();
        seen.into_iter()
            .filter(|row| !row.run.is_open() && row.live.is_none() && row.record == Record::Unread)
            .map(|row| row.run.clone())
            .collect()
    }

    /// Returns when the view closes by itself.
    pub(crate) fn leaves_at(&self) -> Option<Timestamp> {
        match self.leaving {
            Leaving::WhenOver(Some(since)) => since.checked_add(STAYS).ok(),
            Leaving::WhenOver(None) | Leaving::WhenTold => None,
        }
    }

    pub(super) fn select(&mut self, run: Option<RunId>) {
        self.selected = run;
        let Some(row) = self.selected_row() else {
            self.opened = None;
            return;
        };
        let is_open = self
            .opened
            .as_ref()
            .is_some_and(|opened| opened.run.run == row.run.run);
        if !is_open {
            let run = row.run.clone();
            self.openings += 1;
            self.opened = Some(Opened::new(self.openings, run, self.context.clone()));
        }
    }

    /// Selects the row so many rows further down, or the last one.
    pub(super) fn select_by(&mut self, rows: isize) {
        let listed: Vec<&ListRow> = self.listed().collect();
        let place = self.place_of_selected(&listed).unwrap_or(0);
        let place = place
            .saturating_add_signed(rows)
            .min(listed.len().saturating_sub(1));
        let run = listed.get(place).map(|row| row.run.run.clone());
        self.select(run);
    }

    fn place_of_selected(&self, listed: &[&ListRow]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        listed.iter().position(|row| row.run.run == *selected)
    }

    fn take_index(&mut self, runs: Vec<IndexedRun>, older: usize) {
        let mut known: HashMap<RunId, ListRow> = self
            .rows
            .drain(..)
            .map(|row| (row.run.run.clone(), row))
            .collect();
        for run in runs {
            let mut row = known
                .remove(&run.run)
                .unwrap_or_else(|| ListRow::new(run.clone()));
            row.run = run;
            if row.run.is_open() && row.live.is_none() {
                row.live = Some(Live::new(&row.run, self.context.clone()));
            }
            self.rows.push(row);
        }
        self.older = older;
        self.is_loaded = true;
        // An old run that nobody has chosen gives way to what begins.
        let is_meant = |row: &&ListRow| self.has_been_touched || row.live.is_some();
        let row = self.selected_row().filter(is_meant);
        let row = row.or_else(|| self.rows.first());
        let run = row.map(|row| row.run.clone());
        self.select(run.as_ref().map(|run| run.run.clone()));
        if let (Some(opened), Some(run)) = (&mut self.opened, run) {
            opened.run = run;
        }
    }

    fn apply(&mut self, subject: &Subject, events: &[RunEvent]) {
        match subject {
            Subject::Row(run) => {
                let row = self.rows.iter_mut().find(|row| row.run.run == *run);
                if let Some(live) = row.and_then(|row| row.live.as_mut()) {
                    live.apply(events);
                }
            }
            Subject::Window(run, number) => {
                let opened = self.opened_of(run);
                if let Some(opened) = opened.filter(|opened| opened.number == *number) {
                    opened.apply(events);
                }
            }
        }
    }

    fn show_partial(&mut self, run: &RunId, message: PartialMessage) {
        let row = self.rows.iter_mut().find(|row| row.run.run == *run);
        if let Some(live) = row.and_then(|row| row.live.as_mut()) {
            live.window.show_partial(message.newest());
        }
        if let Some(opened) = self.opened_of(run) {
            opened.window.show_partial(message);
        }
    }

    fn note_gone(&mut self, run: &RunId) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.run.run == *run) {
            row.record = Record::Gone;
        }
        if let Some(opened) = self.opened_of(run) {
            opened.is_gone = true;
        }
    }

    fn take_records(&mut self, records: Vec<(RunId, Record)>) {
        for (run, record) in records {
            if let Some(row) = self.rows.iter_mut().find(|row| row.run.run == run) {
                row.record = record;
            }
        }
    }

    fn take_answer(&mut self, run: &RunId, text: Option<String>) {
        let Some(opened) = self.opened_of(run) else {
            return;
        };
        match text {
            Some(text) => opened.output = Some(Output::new(&text)),
            None => {
                self.notice = Some(Notice::new(
                    Role::Muted,
                    "It has not answered anything yet.",
                ));
            }
        }
    }

    pub(super) fn opened_of(&mut self, run: &RunId) -> Option<&mut Opened> {
        self.opened.as_mut().filter(|opened| opened.run.run == *run)
    }

    fn leaves_now(&mut self, now: Timestamp) -> bool {
        let Leaving::WhenOver(since) = &mut self.leaving else {
            return false;
        };
        let is_over = |row: &ListRow| row.status().is_over() || row.record == Record::Gone;
        if !self.is_loaded || !self.rows.iter().all(is_over) {
            *since = None;
            return false;
        }
        since.get_or_insert(now);
        self.leaves_at().is_some_and(|at| now >= at)
    }
}

impl Scope {
    /// Chooses the runs that are shown, and counts those that are left out. The runs are given in
    /// the order they began; those under way come first in that order, then the others, the latest
    /// first.
    pub(crate) fn choose(&self, mut runs: Vec<IndexedRun>) -> (Vec<IndexedRun>, usize) {
        runs.retain(|run| match self {
            Self::Project(project) => run.is_open() || run.project == *project,
            Self::Session(session) => run.session == *session,
            Self::Run(id) => run.run == *id,
        });
        let (mut chosen, over): (Vec<_>, Vec<_>) = runs.into_iter().partition(IndexedRun::is_open);
        let older = over.len().saturating_sub(MAX_OVER);
        chosen.extend(over.into_iter().rev().take(MAX_OVER));
        (chosen, older)
    }
}

impl Notice {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
        }
    }
}

impl ListRow {
    /// Returns whether more of its events are to come.
    fn is_unfinished(&self) -> bool {
        let is_live = |live: &Live| !live.window.status().is_over();
        self.record != Record::Gone && self.live.as_ref().is_some_and(is_live)
    }

    /// Returns whether the run can be steered or stopped.
    pub(crate) fn is_running(&self) -> bool {
        self.run.is_open() && matches!(self.status(), Status::Queued | Status::Running)
    }
}
