//! The model of the screen: a fold over everything that happens.

use ratatui::layout::Size;
use std::path::PathBuf;

use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{RunId, TimeZone, Timestamp};

use super::line_editor::LineEditor;
use super::list::RunList;
use super::message::{Effect, Message, Notice};
use super::opened_run::Opened;
use super::scope::{Reach, ScreenScope};

/// Everything the screen shows.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) scope: ScreenScope,
    /// The project we were started in.
    pub(crate) project: PathBuf,
    pub(crate) context: PreviewContext,
    /// The time zone of the person, for times of day.
    pub(crate) zone: TimeZone,
    /// Columns and rows.
    pub(crate) size: Size,
    pub(crate) list: RunList,
    /// How far back the runs are wanted.
    pub(crate) reach: Reach,
    pub(crate) selected: Option<RunId>,
    /// The run that a person has chosen, which a filter may hide for a while.
    pub(super) chosen: Option<RunId>,
    /// True if a person has pressed any key, and so may have chosen the selected run.
    pub(super) has_been_touched: bool,
    pub(crate) opened: Option<Opened>,
    /// The number of windows that were opened so far.
    pub(super) openings: u64,
    pub(crate) focus: Focus,
    /// True if the window has the whole screen.
    pub(crate) is_zoomed: bool,
    pub(crate) mode: Mode,
    /// A text that somebody has begun to type and has not sent.
    pub(super) draft: Option<(Purpose, LineEditor)>,
    /// The definitions for a new run, and the place of the chosen one.
    pub(crate) definitions: (Vec<String>, usize),
    /// A run that was started here and is selected as soon as it is in the list.
    pub(super) awaited: Option<RunId>,
    pub(crate) uses_mouse: bool,
    pub(crate) notice: Option<Notice>,
    pub(crate) leaving: Leaving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Window,
}

/// The mode, which gives the keys their meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    Browsing,
    /// The help is shown from this row on.
    Help(usize),
    Typing(Purpose, LineEditor),
    /// Asks something before it is done.
    Confirming(Question),
}

/// A question that is answered with yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// Asks whether this run is really to be stopped.
    Stop(RunId),
    /// Asks whether the changes of this run are to be merged.
    Merge(RunId),
    /// Asks whether the changes of this run are to be discarded.
    Discard(RunId),
}

/// The purpose for which a line is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    Filter,
    Search,
    Steer(RunId),
    Answer(RunId),
    Resume(RunId),
    Start,
}

/// The condition under which the view leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    WhenTold,
    /// Shortly after all its runs are over; the time is the end of the last run.
    WhenOver(Option<Timestamp>),
}

impl Model {
    pub(crate) fn new(
        scope: ScreenScope,
        project: PathBuf,
        context: PreviewContext,
        size: Size,
    ) -> Self {
        let is_one = matches!(scope, ScreenScope::Run(_));
        Self {
            scope,
            project,
            context,
            zone: TimeZone::UTC,
            size,
            list: RunList::default(),
            reach: Reach::default(),
            selected: None,
            chosen: None,
            has_been_touched: false,
            opened: None,
            openings: 0,
            focus: if is_one { Focus::Window } else { Focus::List },
            is_zoomed: is_one,
            mode: Mode::Browsing,
            draft: None,
            definitions: (vec![DEFAULT_DEFINITION.to_owned()], 0),
            awaited: None,
            uses_mouse: true,
            notice: None,
            leaving: Leaving::WhenTold,
        }
    }

    /// Returns the model with another rule for when the view closes.
    pub(crate) fn leaving(self, leaving: Leaving) -> Self {
        Self { leaving, ..self }
    }

    /// Returns the model with the times of day of this zone.
    pub(crate) fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Takes one more message, and returns the work that follows from it.
    pub(crate) fn update(&mut self, message: Message, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        match message {
            Message::Pressed(key) => {
                let effect = self.pressed(key);
                self.reach_further();
                return effect.into_iter().collect();
            }
            Message::Mouse(act, column, row) => {
                let effect = self.moused(act, column, row);
                self.reach_further();
                return effect.into_iter().collect();
            }
            Message::Pasted(text) => self.pasted(&text),
            Message::Resized(size) => self.size = size,
            Message::IndexRead(runs) => effects = self.take_index(runs),
            Message::RecordGrew(subject, events) => self.apply(&subject, &events),
            Message::RecordGone(run) => self.note_gone(&run),
            Message::RecordsRead(records) => self.take_records(records),
            Message::Partial(run, message) => self.show_partial(&run, message),
            Message::AnswerRead(run, wanted, text) => {
                effects.extend(self.take_answer(&run, wanted, text));
            }
            Message::DefinitionsRead(names) => self.take_definitions(names),
            Message::Began(run, notice) => {
                self.awaited = Some(run);
                self.notice = Some(notice);
                effects.push(Effect::Look);
            }
            Message::ChangedFilesRead(run, files) => self.take_changed_files(&run, files),
            Message::DiffRead(run, lines) => self.take_diff(&run, lines),
            Message::MergeChecked(run, fitting) => self.take_fitting(run, fitting),
            Message::Finished(notice) => self.notice = Some(notice),
            Message::Tick => {}
        }
        self.reach_further();
        effects.extend(self.leaves_now(now).then_some(Effect::Leave));
        effects
    }
}

/// The definition that always exists.
pub(crate) const DEFAULT_DEFINITION: &str = "default";
