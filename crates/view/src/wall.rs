//! All windows of a call: the runs with their lines, and the place to read on when all are done.

use std::collections::HashMap;

use pi_subagents_vocabulary::{
    Counts, PartialMessage, RunEvent, RunId, RunSummary, Status, Timestamp, Usage, text,
};
use unicode_width::UnicodeWidthStr;

use crate::body::Body;
use crate::counts::{and_so_many, results_header};
use crate::header::{SEPARATOR, folded, header};
use crate::layout::{self, Need, Standing};
use crate::paint::fit;
use crate::preview::PreviewContext;
use crate::screen::ScreenSize;
use crate::view::View;
use crate::{Line, Role, Window, figures};

/// The largest number of rows of one run that can be read in a live view.
const MOST_STORY_ROWS: usize = 10_000;

/// The windows of several runs, in the order their tasks were accepted.
#[derive(Debug, Clone)]
pub struct Wall {
    context: PreviewContext,
    windows: Vec<Window>,
    places: HashMap<RunId, usize>,
    /// The address at which a person can watch the runs in a browser.
    page: Option<String>,
}

impl Wall {
    /// Makes an empty wall; each window's previews follow `context` and its task's directory.
    pub fn new(context: PreviewContext) -> Self {
        Self {
            context,
            windows: Vec::new(),
            places: HashMap::new(),
            page: None,
        }
    }

    /// Names the address at which a person can watch the runs in a browser, while they are under
    /// way.
    #[must_use]
    pub fn with_page(mut self, address: Option<String>) -> Self {
        self.set_page(address);
        self
    }

    /// Names the address of a wall that is filled already.
    pub fn set_page(&mut self, address: Option<String>) {
        self.page = address;
    }

    /// Returns how wide the previews of calls are.
    pub fn preview_width(&self) -> usize {
        self.context.width
    }

    /// Makes the previews of calls wider or narrower.
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

    /// Returns how many runs are in which state.
    pub fn status_header(&self) -> Line {
        let header = results_header(self.counts());
        match self.budget() {
            Some(words) => header.with(Role::Muted, &format!("{SEPARATOR}budget {words}")),
            None => header,
        }
    }

    /// Returns what is used of the budget of the call, if all runs belong to one call that has one.
    fn budget(&self) -> Option<String> {
        let facts = || self.windows.iter().map(Window::facts);
        let mut limits = facts().map(|facts| facts.task.as_ref().map(|task| task.call_budget));
        let first = limits.next()??;
        let is_one = limits.all(|limits| limits == Some(first));
        let usage: Usage = facts().map(|facts| facts.usage).sum();
        figures::budget_words(&usage, &first).filter(|_| is_one)
    }

    /// Returns the first line for people: the number of runs in each state, and their calls and
    /// cost together.
    pub fn headline(&self) -> Line {
        let facts = || self.windows.iter().map(Window::facts);
        let usage: Usage = facts().map(|facts| facts.usage).sum();
        let calls = facts().map(|facts| facts.tool_calls).sum();
        let used = figures::usage_words(Some(calls), usage.total(), usage.cost(), None);
        if used.is_empty() {
            return self.status_header();
        }
        self.status_header()
            .with(Role::Muted, &format!("{SEPARATOR}{used}"))
    }

    /// Returns the first line for a screen; where it is narrow, only the states.
    fn first_line(&self, columns: usize) -> Line {
        let whole = self.headline();
        if whole.width() <= columns {
            return whole;
        }
        fit(&self.status_header(), columns)
    }

    /// Returns the first line of windows that are drawn again and again, with the address of the page
    /// if there is room for it.
    fn live_line(&self, columns: usize) -> Line {
        self.naming_page(self.first_line(columns), columns)
    }

    /// Returns the same for a screen that somebody else breaks into lines.
    pub fn live_headline(&self, columns: usize) -> Line {
        self.naming_page(self.headline(), columns)
    }

    /// Adds the address of the page to a line while a run is under way, if there is room for it.
    fn naming_page(&self, line: Line, columns: usize) -> Line {
        let page = self.page.as_ref().filter(|_| !self.is_over());
        let named = page.map(|page| {
            let line = line.clone();
            line.with(Role::Muted, &format!("{SEPARATOR}live at {page}"))
        });
        named
            .filter(|named| named.width() <= columns)
            .unwrap_or(line)
    }

    /// Draws all windows as lines, none wider than the view.
    pub fn view(&self, now: Timestamp, view: &View) -> Vec<Line> {
        let limit = view.limit();
        let mut lines = vec![self.first_line(view.columns)];
        for (number, window) in self.windows.iter().enumerate() {
            if number > 0 {
                lines.push(Line::default());
            }
            lines.push(header(window, now, view.columns));
            lines.extend(Body::new(window, view.columns, limit).draw_with_error(limit));
        }
        let footer = self.footer(view.columns);
        if !footer.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(footer);
        lines
    }

    /// Draws the windows as at most `rows` lines, none wider than `columns`. Windows of running
    /// runs are open; if there is no room for the others, they are counted.
    pub fn view_in_rows(&self, now: Timestamp, columns: usize, rows: usize) -> Vec<Line> {
        let bodies = self
            .windows
            .iter()
            .map(|window| Body::new(window, columns, rows));
        let bodies: Vec<Body> = bodies.collect();
        let needs = self.windows.iter().zip(&bodies).map(|(window, body)| Need {
            standing: standing(window.status()),
            body: body.len(),
        });
        let plan = layout::plan(&needs.collect::<Vec<_>>(), rows.saturating_sub(1));
        let mut lines = vec![self.live_line(columns)];
        let mut above = None;
        let mut hidden = Counts::default();
        for ((window, body), share) in self.windows.iter().zip(&bodies).zip(&plan.shares) {
            let Some(share) = *share else {
                hidden.add(window.status());
                continue;
            };
            if plan.has_gaps && above.is_some_and(|above| layout::has_gap(above, share)) {
                lines.push(Line::default());
            }
            lines.push(match share {
                0 => folded(window, now, columns),
                _ => header(window, now, columns),
            });
            lines.extend(body.draw(share));
            above = Some(share);
        }
        if hidden != Counts::default() {
            lines.push(fit(&and_so_many(hidden), columns));
        }
        lines.truncate(rows);
        lines
    }

    /// Draws all that is held of one run as at most so many lines; so many lines are below them.
    pub fn story_in_rows(
        &self,
        window: &Window,
        below: usize,
        now: Timestamp,
        size: ScreenSize,
    ) -> Vec<Line> {
        let ScreenSize { columns, rows } = size;
        let body = Body::new(window, columns, MOST_STORY_ROWS);
        let story = body.draw(body.len());
        let room = rows.saturating_sub(2);
        let below = below.min(story.len().saturating_sub(room));
        let end = story.len() - below;
        let shown = story.into_iter().take(end).skip(end.saturating_sub(room));
        let heads = [self.live_line(columns), header(window, now, columns)];
        heads.into_iter().chain(shown).take(rows).collect()
    }

    fn window_of(&mut self, run: &RunId) -> &mut Window {
        let place = *self.places.entry(run.clone()).or_insert_with(|| {
            self.windows
                .push(Window::new(run.clone(), self.context.clone()));
            self.windows.len() - 1
        });
        &mut self.windows[place]
    }

    /// Returns the session ids, once all runs are over. They come last, so that they can be copied.
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

fn standing(status: Status) -> Standing {
    match status {
        Status::Running | Status::Waiting => Standing::Running,
        Status::Parked | Status::Failed | Status::Stopped => Standing::Failed,
        Status::Completed => Standing::Done,
        Status::Queued => Standing::Queued,
    }
}
