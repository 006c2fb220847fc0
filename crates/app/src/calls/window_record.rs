//! The windows of a call as data, in the `details` of its answer, so that whoever shows the answer can draw
//! them, now or when it is read again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_delegation::text::{cut_characters, one_line};
use pi_subagents_delegation::{
    EventSink, PartialMessage, RunEvent, RunId, RunSummary, Status, Timestamp,
};
use pi_subagents_windows::{Fleet, PreviewContext};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::calls::preview::preview_width;

use super::window_json::{DetailsJson, SpansJson, WindowJson};

/// How much of the newest line stands beside how the runs stand.
const SHORT_LINE: usize = 160;

/// A line that is drawn elsewhere is cut there.
pub(super) const ANY_WIDTH: usize = 400;

/// Which lines of a window are seen while its call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Newest,
    All,
}

/// Which lines of a window are told, and how wide they are where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Those that are seen, with what is being said at their end.
    Live { seen: Seen, columns: usize },
    /// The newest apart from all of them, as the documented shape has it.
    Both,
}

/// The windows of a call, filled by its events.
#[derive(Clone)]
pub(crate) struct WindowRecord {
    fleet: Arc<Mutex<Fleet>>,
    /// How many files each task was given, in the order of the tasks.
    file_counts: Arc<[usize]>,
    lines_per_window: usize,
    /// Whether somebody sees the windows before their runs are over.
    is_drawn: bool,
    /// Whether anything happened since somebody looked.
    has_changed: Arc<AtomicBool>,
}

impl WindowRecord {
    pub(crate) fn new(
        context: PreviewContext,
        file_counts: impl IntoIterator<Item = usize>,
        lines_per_window: usize,
    ) -> Self {
        Self {
            is_drawn: false,
            fleet: Arc::new(Mutex::new(Fleet::new(context))),
            file_counts: file_counts.into_iter().collect(),
            lines_per_window,
            has_changed: Arc::default(),
        }
    }

    /// The same windows, for somebody who sees them live.
    pub(crate) fn drawn(&self) -> Self {
        Self {
            is_drawn: true,
            ..self.clone()
        }
    }

    /// Makes what is told from now on fit a screen of so many columns.
    pub(crate) fn set_columns(&self, columns: usize) {
        self.lock().set_preview_width(preview_width(columns));
    }

    /// Tells whether anything has happened since it was asked last.
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed.swap(false, Ordering::Relaxed)
    }

    /// How it looks in one line.
    pub(crate) fn text(&self) -> String {
        self.lock().status_header().text()
    }

    /// The same with the newest line of a run, as long as it runs.
    pub(crate) fn text_with(&self, run: Option<&RunId>) -> String {
        let fleet = self.lock();
        let header = fleet.status_header().text();
        let window = run.and_then(|run| fleet.window(run));
        let window = window.filter(|window| window.status() == Status::Running);
        let newest = window.and_then(|window| Some((window.name(), window.lines(1).next()?)));
        match newest {
            Some((name, newest)) => {
                let newest = one_line(&format!("{name}: {}", newest.line.text()));
                format!("{header} · {}", cut_characters(&newest, SHORT_LINE))
            }
            None => header,
        }
    }

    /// The documented shape: `windows`, `maxLinesPerWindow`, `globalStatus`, `sessionIds`; and
    /// what stands around the windows, as spans.
    pub(crate) fn json(&self) -> Map<String, Value> {
        match self.details(Lines::Both, |details| serde_json::to_value(details)) {
            Ok(Value::Object(details)) => details,
            Ok(_) | Err(_) => Map::new(),
        }
    }

    /// The same as text, for whoever follows along: of the lines only those that are shown.
    pub(crate) fn update(&self, seen: Seen) -> Option<Box<RawValue>> {
        let columns = self.lock().preview_width();
        let lines = Lines::Live { seen, columns };
        self.details(lines, |details| serde_json::value::to_raw_value(details))
            .ok()
    }

    fn details<T>(&self, lines: Lines, write: impl FnOnce(&DetailsJson<'_>) -> T) -> T {
        let fleet = self.lock();
        let now = Timestamp::now();
        let windows = fleet
            .windows()
            .iter()
            .zip(self.file_counts.iter().chain(std::iter::repeat(&0)))
            .map(|(window, files)| {
                WindowJson::of(window, *files, now, lines, self.lines_per_window)
            });
        let session_ids = fleet.windows().iter();
        write(&DetailsJson {
            windows: windows.collect(),
            max_lines_per_window: self.lines_per_window,
            global_status: if fleet.is_over() { "done" } else { "running" },
            session_ids: session_ids
                .filter_map(|window| Some(window.session()?.as_str()))
                .collect(),
            header: SpansJson(fleet.status_header()),
            footer: fleet.footer(ANY_WIDTH).into_iter().map(SpansJson).collect(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for WindowRecord {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        self.lock().apply(events, summary);
        self.has_changed.store(true, Ordering::Relaxed);
    }

    fn wants_partial_messages(&self) -> bool {
        self.is_drawn
    }

    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        if self.is_drawn && self.lock().show_partial(run, message) {
            self.has_changed.store(true, Ordering::Relaxed);
        }
    }
}
