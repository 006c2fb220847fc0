//! What is on the screen and why: a fold over everything that happens.

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
use super::opened::{Opened, Output};
use super::run_row::{Live, Record, RunRow};

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
    /// What runs first, then what is over, the latest first.
    pub(crate) rows: Vec<RunRow>,
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
    /// What somebody began to say to a run and has not sent.
    pub(super) draft: Option<(RunId, LineEditor)>,
    /// In small letters.
    pub(crate) filter: String,
    pub(crate) notice: Option<Notice>,
    pub(crate) leaving: Leaving,
}

/// Which runs are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What runs anywhere, and what ran in this project.
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
    /// Shortly after all its runs are over, which they are since then.
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
    /// The index was read: these are the runs in scope, and so many more are over.
    Looked(Vec<IndexedRun>, usize),
    /// The record of a run has grown.
    Heard(Subject, Vec<RunEvent>),
    /// There is no record of it any more.
    Gone(RunId),
    /// What records of runs that are over tell.
    Told(Vec<(RunId, Record)>),
    /// The message that the model of a run is writing has grown.
    Partial(RunId, PartialMessage),
    /// What a run answered so far.
    Answered(RunId, Option<String>),
    /// What came of something that was asked for.
    Came(Notice),
    /// Time goes by.
    Clock,
}

/// For whose sake a record is followed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    Row(RunId),
    /// The window that was opened as the so many-th: what an earlier one of the same run still
    /// hears is not for this one.
    Window(RunId, u64),
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// The same, leaving when this says so.
    pub(crate) fn leaving(self, leaving: Leaving) -> Self {
        Self { leaving, ..self }
    }

    /// Takes one more message, and says what is to be done about it.
    pub(crate) fn update(&mut self, message: Message, now: Timestamp) -> Option<Effect> {
        match message {
            Message::Pressed(key) => return self.pressed(key),
            Message::Pasted(text) => self.pasted(&text),
            Message::Resized(columns, rows) => self.size = (columns, rows),
            Message::Looked(runs, older) => self.looked(runs, older),
            Message::Heard(subject, events) => self.heard(&subject, &events),
            Message::Gone(run) => self.gone(&run),
            Message::Told(records) => self.told(records),
            Message::Partial(run, message) => self.show_partial(&run, message),
            Message::Answered(run, text) => self.answered(&run, text),
            Message::Came(notice) => self.notice = Some(notice),
            Message::Clock => {}
        }
        self.leaves_now(now).then_some(Effect::Leave)
    }

    /// The rows that fit the filter.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &RunRow> {
        self.rows
            .iter()
            .filter(|row| self.filter.is_empty() || row.matches(&self.filter))
    }

    pub(crate) fn selected_row(&self) -> Option<&RunRow> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().find(|row| row.run.run == *selected)
    }

    /// The listed rows that are seen, and the first one's place among all that are listed.
    pub(crate) fn seen_rows(&self) -> (usize, Vec<&RunRow>) {
        let height = usize::from(Layout::of(self).list.height);
        let listed: Vec<&RunRow> = self.listed().collect();
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

    /// The records that are to be followed.
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

    /// Returns the runs whose partial messages are read: whole messages of the open run, the newest
    /// lines of the other runs that are seen.
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

    /// The runs that are seen and of which the list knows too little.
    pub(crate) fn unread(&self) -> Vec<IndexedRun> {
        let (_, seen) = self.seen_rows();
        seen.into_iter()
            .filter(|row| !row.run.is_open() && row.live.is_none() && row.record == Record::Unread)
            .map(|row| row.run.clone())
            .collect()
    }

    /// When the view leaves by itself.
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

    /// Selects the row so many further down, as far as there are any.
    pub(super) fn select_by(&mut self, rows: isize) {
        let listed: Vec<&RunRow> = self.listed().collect();
        let place = self.place_of_selected(&listed).unwrap_or(0);
        let place = place
            .saturating_add_signed(rows)
            .min(listed.len().saturating_sub(1));
        let run = listed.get(place).map(|row| row.run.run.clone());
        self.select(run);
    }

    fn place_of_selected(&self, listed: &[&RunRow]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        listed.iter().position(|row| row.run.run == *selected)
    }

    fn looked(&mut self, runs: Vec<IndexedRun>, older: usize) {
        let mut known: HashMap<RunId, RunRow> = self
            .rows
            .drain(..)
            .map(|row| (row.run.run.clone(), row))
            .collect();
        for run in runs {
            let mut row = known
                .remove(&run.run)
                .unwrap_or_else(|| RunRow::new(run.clone()));
            row.run = run;
            if row.run.is_open() && row.live.is_none() {
                row.live = Some(Live::new(&row.run, self.context.clone()));
            }
            self.rows.push(row);
        }
        self.older = older;
        self.is_loaded = true;
        // An old run that nobody has chosen gives way to what begins.
        let is_meant = |row: &&RunRow| self.has_been_touched || row.live.is_some();
        let row = self.selected_row().filter(is_meant);
        let row = row.or_else(|| self.rows.first());
        let run = row.map(|row| row.run.clone());
        self.select(run.as_ref().map(|run| run.run.clone()));
        if let (Some(opened), Some(run)) = (&mut self.opened, run) {
            opened.run = run;
        }
    }

    fn heard(&mut self, subject: &Subject, events: &[RunEvent]) {
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

    fn gone(&mut self, run: &RunId) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.run.run == *run) {
            row.record = Record::Gone;
        }
        if let Some(opened) = self.opened_of(run) {
            opened.is_gone = true;
        }
    }

    fn told(&mut self, records: Vec<(RunId, Record)>) {
        for (run, record) in records {
            if let Some(row) = self.rows.iter_mut().find(|row| row.run.run == run) {
                row.record = record;
            }
        }
    }

    fn answered(&mut self, run: &RunId, text: Option<String>) {
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
        let is_over = |row: &RunRow| row.status().is_over() || row.record == Record::Gone;
        if !self.is_loaded || !self.rows.iter().all(is_over) {
            *since = None;
            return false;
        }
        since.get_or_insert(now);
        self.leaves_at().is_some_and(|at| now >= at)
    }
}

impl Scope {
    /// Of all runs, given in the order they began, the ones that are shown, and how many more
    /// there would be. What runs stands first, in that order; of what is over, the latest does.
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

impl RunRow {
    /// Tells whether its events are still to be heard.
    fn is_unfinished(&self) -> bool {
        let is_live = |live: &Live| !live.window.status().is_over();
        self.record != Record::Gone && self.live.as_ref().is_some_and(is_live)
    }

    /// Tells whether there is somebody to be spoken to.
    pub(crate) fn is_running(&self) -> bool {
        self.run.is_open() && matches!(self.status(), Status::Queued | Status::Running)
    }
}
