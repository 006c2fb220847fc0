//! The messages that the model gets, and the effects that it asks for.

use crossterm::event::KeyEvent;
use pi_subagents_records::IndexedRun;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{PartialMessage, Question, RunEvent, RunId};
use ratatui::layout::Size;

use super::list_row::Record;
use super::results::Fitting;
use super::scope::ScopedRuns;
use pi_subagents_calls::start_from_screen::WantedRun;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Message {
    Pressed(KeyEvent),
    Pasted(String),
    /// The mouse did something at a column and a row.
    Mouse(MouseAct, u16, u16),
    Resized(Size),
    /// The index was read: the runs in scope.
    IndexRead(ScopedRuns),
    /// The record of a run has grown by these events.
    RecordGrew(Subject, Vec<RunEvent>),
    /// Somebody has deleted the record of a run.
    RecordGone(RunId),
    /// The records of these finished runs were read.
    RecordsRead(Vec<(RunId, Record)>),
    /// The message that the model of a run is writing has grown.
    Partial(RunId, PartialMessage),
    /// The answer of a run was read; `None` if there is no answer.
    AnswerRead(RunId, AnswerUse, Option<String>),
    /// The files that git found in the worktree of a run were read; `None` if it knows of none.
    ChangedFilesRead(RunId, Option<Vec<String>>),
    /// The patch of a run was read, or there is a reason why not.
    DiffRead(RunId, Result<Vec<Line>, String>),
    /// A run was compared with its checkout, or there is a reason why not.
    MergeChecked(RunId, Result<Fitting, String>),
    /// The definitions that a new run can have were read.
    DefinitionsRead(Vec<String>),
    /// A run was started from here.
    Began(RunId, Notice),
    /// A request is finished, and this is its outcome.
    Finished(Notice),
    /// A second has passed.
    Tick,
}

/// An action of a person with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MouseAct {
    Click,
    WheelUp,
    WheelDown,
}

/// The purpose for which an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerUse {
    Show,
    Copy,
}

/// The part of the screen for which a record is followed.
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
    /// This process is to be stopped until somebody continues it.
    Pause,
    /// The index is to be read again: other runs are in scope now.
    Look,
    Steer(IndexedRun, String),
    /// The question of a run gets this answer.
    Answer(IndexedRun, Box<Question>, String),
    Stop(IndexedRun),
    Start(WantedRun),
    ReadAnswer(IndexedRun, AnswerUse),
    ReadDefinitions,
    /// The files that a run with a worktree of its own has changed are to be read.
    ReadChangedFiles(IndexedRun),
    ReadDiff(IndexedRun),
    /// A run is to be compared with its checkout before it is merged.
    CheckMerge(IndexedRun),
    Merge(IndexedRun),
    Discard(IndexedRun),
    /// The web page is to be opened at this run.
    OpenPage(IndexedRun),
    /// A text is to be put on the clipboard.
    Copy(String),
    /// The mouse is to be used here, or left to the terminal.
    UseMouse(bool),
    /// These runs were seen running and are over.
    RunsEnded(Vec<IndexedRun>),
}

/// A sentence for the person at the screen, until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) role: Role,
    pub(crate) text: String,
}

impl Notice {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
        }
    }
}
