//! All windows of a call: who runs, what each says, and where to read on when all are done.

use std::collections::HashMap;

use pi_subagents_delegation::{
    PartialMessage, RunEvent, RunId, RunSummary, Status, Timestamp, text,
};
use unicode_width::UnicodeWidthStr;

use crate::body::Body;
use crate::header::header;
use crate::layout::{self, Block};
use crate::paint::fit;
use crate::preview::PreviewContext;
use crate::view::View;
use crate::{Line, Role, Window};

/// The windows of several runs, in the order their tasks were accepted.
#[derive(Debug, Clone)]
pub struct Fleet {
    context: PreviewContext,
    windows: Vec<Window>,
    places: HashMap<RunId, usize>,
}

/// How many runs are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// They run.
    pub running: usize,
    /// They wait for a free place.
    pub waiting: usize,
    /// They ended as they should.
    pub done: usize,
    /// They ended otherwise.
    pub failed: usize,
}

impl Fleet {
    /// Makes an empty fleet; each window's previews follow `context` and its task's directory.
    pub fn new(context: PreviewContext) -> Self {
        Self {
            context,
            windows: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Returns how wide the previews of calls are.
    pub fn preview_width(&self) -> usize {
        self.context.width
    }

    /// Makes the previews of the calls that come from now on wider or narrower.
    pub fn set_preview_width(&mut self, width: usize) {
        if self.context.width == width {
            return;
        }
        self.context.width = width;
        for window in &mut self.windows {
            window.set_preview_width(width);
        }
    }

    /// Adds events of one run to its window, and the summary of that run after the last of them.
    pub fn apply(&mut self, events: &[RunEvent], summary: &RunSummary) {
        if let Some(RunEvent { run, .. }) = events.first() {
            self.window_of(run).apply(events, summary);
        }
    }

    /// Shows the message that the model of a run is writing, and returns whether that changes
    /// anything.
    pub fn show_partial(&mut self, run: &RunId, message: &PartialMessage) -> bool {
        let window = self.places.get(run).map(|place| &mut self.windows[*place]);
        window.is_some_and(|window| window.show_partial(message.clone()))
    }

    /// Drops all messages that models are still writing.
    pub fn drop_partials(&mut self) {
        for window in &mut self.windows {
            window.drop_partial();
        }
    }

    /// Returns the windows, in the order their tasks were accepted.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the window of one run.
    pub fn window(&self, run: &RunId) -> Option<&Window> {
        self.windows.get(*self.places.get(run)?)
    }

    /// Counts the runs in each state.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for window in &self.windows {
            counts.add(window.status());
        }
        counts
    }

    /// Returns whether every run is over.
    pub fn is_over(&self) -> bool {
        self.windows.iter().all(|window| window.status().is_over())
    }

    /// Returns the first line: how many runs are in which state.
    pub fn status_header(&self) -> Line {
        self.counts().header()
    }

    /// Draws all windows as lines, none wider than the view.
    pub fn view(&self, now: Timestamp, view: &View) -> Vec<Line> {
        layout::whole(
            fit(&self.status_header(), view.columns),
            self.blocks(now, view),
            self.footer(view.columns),
        )
    }

    /// Draws all windows as at most `rows` lines; where they do not fit, each gives up its fair
    /// share.
    pub fn view_in_rows(&self, now: Timestamp, view: &View, rows: usize) -> Vec<Line> {
        layout::squeezed(
            fit(&self.status_header(), view.columns),
            self.blocks(now, view),
            self.footer(view.columns),
            rows,
        )
    }

    fn window_of(&mut self, run: &RunId) -> &mut Window {
        let place = *self.places.entry(run.clone()).or_insert_with(|| {
            self.windows
                .push(Window::new(run.clone(), self.context.clone()));
            self.windows.len() - 1
        });
        &mut self.windows[place]
    }

    fn blocks(&self, now: Timestamp, view: &View) -> Vec<Block<'_>> {
        self.windows
            .iter()
            .map(|window| Block {
                header: header(window, now, view.columns),
                body: Body::new(window, view),
                is_over: window.status().is_over(),
            })
            .collect()
    }

    /// Returns the session ids, once all runs are over. They stand last, so that they can be
    /// copied.
    pub fn footer(&self, columns: usize) -> Vec<Line> {
        if self.windows.is_empty() || !self.is_over() {
            return Vec::new();
        }
        let names: Vec<String> = self
            .windows
            .iter()
            .map(|window| text::cut_columns(&text::clean(window.name()), columns / 2))
            .collect();
        let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let ids = self.windows.iter().zip(names).filter_map(|(window, name)| {
            let margin = " ".repeat(widest - name.width() + 2);
            let line = Line::new(Role::Plain, &format!("  {name}{margin}"))
                .with(Role::Accent, window.session()?.as_str());
            Some(fit(&line, columns))
        });
        std::iter::once(fit(&Line::new(Role::Muted, "Sessions:"), columns))
            .chain(ids)
            .collect()
    }
}

impl Counts {
    /// Counts one more run.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Queued => self.waiting += 1,
            Status::Running => self.running += 1,
            Status::Completed => self.done += 1,
            Status::Failed | Status::Aborted => self.failed += 1,
        }
    }

    /// Draws the counts as one line.
    pub fn header(self) -> Line {
        let states = [
            (self.running, "running", Role::Warning),
            (self.waiting, "waiting", Role::Muted),
            (self.done, "done", Role::Success),
            (
                self.failed,
                if self.failed == 1 { "error" } else { "errors" },
                Role::Failed,
            ),
        ];
        let mut line = Line::new(Role::Title, "Sub-agents:");
        let mut lead = " ";
        for (number, state, role) in states.into_iter().filter(|(number, ..)| *number > 0) {
            line = line
                .with(Role::Plain, lead)
                .with(role, &format!("{number} {state}"));
            lead = ", ";
        }
        if line.spans().len() == 1 {
            line = line.with(Role::Muted, " none");
        }
        line
    }
}
