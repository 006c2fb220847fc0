//! The windows of a call as data, in the `details` of its answer, so that a view can draw them, now
//! or when the answer is read again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_view::{PreviewContext, Wall};
use pi_subagents_vocabulary::{EventSink, PartialMessage, RunEvent, RunId, RunSummary, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::preview::preview_width;
use crate::updates::Updates;
use crate::watch::WindowFollower;

use super::window_json::{DetailsJson, SpansJson, WindowJson};

/// The clocks of the windows show seconds.
const CLOCK_EVERY: Duration = Duration::from_secs(1);

/// A line that is drawn elsewhere is cut there.
const ANY_WIDTH: usize = 400;

/// Pi draws a call in a box that is narrower than its terminal.
const BOX_COLUMNS: usize = 2;

/// The lines of a window that are seen while its call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenLines {
    Newest,
    All,
}

/// The lines of a window that are sent, and their width if it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// The lines that are seen, with the partial message at their end.
    Live { seen: SeenLines, columns: usize },
    /// The newest lines apart from all lines, as the documented shape has it.
    Both,
}

/// The windows of a call, filled by its events.
#[derive(Clone)]
pub struct WindowRecord {
    wall: Arc<Mutex<Wall>>,
    /// The number of files that each task was given, in the order of the tasks.
    file_counts: Arc<[usize]>,
    lines_per_window: usize,
    /// The width of the headers.
    columns: Arc<AtomicUsize>,
    /// True if somebody sees the windows before their runs are over.
    is_drawn: bool,
    /// Wakes the follower.
    changed: Arc<Notify>,
}

impl WindowRecord {
    pub(crate) fn new(
        context: PreviewContext,
        file_counts: impl IntoIterator<Item = usize>,
        lines_per_window: usize,
    ) -> Self {
        Self {
            is_drawn: false,
            wall: Arc::new(Mutex::new(Wall::new(context))),
            file_counts: file_counts.into_iter().collect(),
            lines_per_window,
            columns: Arc::new(AtomicUsize::new(ANY_WIDTH)),
            changed: Arc::default(),
        }
    }

    /// Returns a sink for these windows that also takes partial messages.
    pub(crate) fn drawn(&self) -> Self {
        Self {
            is_drawn: true,
            ..self.clone()
        }
    }

    /// Makes the headers, and the calls that follow, fit a screen of this number of columns.
    fn set_columns(&self, columns: usize) {
        let inside = columns.saturating_sub(BOX_COLUMNS);
        self.columns.store(inside, Ordering::Relaxed);
        self.lock().set_preview_width(preview_width(columns));
    }

    /// Updates a door that follows the windows whenever they have changed, and every second while a
    /// person sees their clocks.
    pub(crate) fn updates(&self, follower: WindowFollower) -> Updates {
        let WindowFollower {
            mut on_update,
            is_drawn,
            look,
            page,
        } = follower;
        self.lock().set_page(page);
        let windows = self.clone();
        Updates::new(
            Arc::clone(&self.changed),
            is_drawn.then_some(CLOCK_EVERY),
            Box::new(move || {
                if let Some(columns) = look.columns() {
                    windows.set_columns(columns);
                }
                on_update(&windows, look.seen());
            }),
        )
    }

    /// Returns the counts of the runs, in one line.
    pub fn text(&self) -> String {
        self.lock().status_header().text()
    }

    /// Returns the documented shape: `windows`, `maxLinesPerWindow`, `globalStatus`, `sessionIds`;
    /// and the lines around the windows, as spans.
    pub(crate) fn json(&self) -> Map<String, Value> {
        match self.details(Lines::Both, |details| serde_json::to_value(details)) {
            Ok(Value::Object(details)) => details,
            Ok(_) | Err(_) => Map::new(),
        }
    }

    /// Writes the same as text, for a follower, with only the shown lines.
    pub fn update(&self, seen: SeenLines) -> Option<Box<RawValue>> {
        let columns = self.lock().preview_width();
        let lines = Lines::Live { seen, columns };
        self.details(lines, |details| serde_json::value::to_raw_value(details))
            .ok()
    }

    fn details<T>(&self, lines: Lines, write: impl FnOnce(&DetailsJson<'_>) -> T) -> T {
        let wall = self.lock();
        let now = Timestamp::now();
        let columns = self.columns.load(Ordering::Relaxed);
        let windows = wall
            .windows()
            .iter()
            .zip(self.file_counts.iter().chain(std::iter::repeat(&0)))
            .map(|(window, files)| {
                WindowJson::of(window, *files, now, lines, self.lines_per_window, columns)
            });
        let session_ids = wall.windows().iter();
        write(&DetailsJson {
            windows: windows.collect(),
            max_lines_per_window: self.lines_per_window,
            global_status: if wall.is_over() { "done" } else { "running" },
            session_ids: session_ids
                .filter_map(|window| Some(window.session()?.as_str()))
                .collect(),
            header: SpansJson(match lines {
                Lines::Live { .. } => wall.live_headline(columns),
                Lines::Both => wall.headline(),
            }),
            footer: wall.footer(ANY_WIDTH).into_iter().map(SpansJson).collect(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Wall> {
        self.wall.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for WindowRecord {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        self.lock().apply(events, summary);
        self.changed.notify_one();
    }

    fn wants_partial_messages(&self) -> bool {
        self.is_drawn
    }

    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        if self.is_drawn && self.lock().show_partial(run, message) {
            self.changed.notify_one();
        }
    }
}
