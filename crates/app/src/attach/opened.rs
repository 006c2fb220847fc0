//! The run whose window is open: all of it, from the beginning, and where its reader is.

use pi_subagents_delegation::{RunEvent, RunSummary, text};
use pi_subagents_sessions::IndexedRun;
use pi_subagents_windows::{Line, Page, Place, PreviewContext, Role, Room, Window, describe};

/// The run whose window is open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    /// The number of its opening: windows are counted from the first one.
    pub(crate) number: u64,
    pub(crate) run: IndexedRun,
    pub(crate) window: Window,
    summary: RunSummary,
    pub(crate) place: Place,
    /// What it answered, where that is shown instead of what happened.
    pub(crate) output: Option<Output>,
    pub(crate) is_gone: bool,
}

/// What a run answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Opened {
    pub(crate) fn new(number: u64, run: IndexedRun, context: PreviewContext) -> Self {
        let window = Window::new(run.run.clone(), context);
        Self {
            number,
            run,
            window: window.with_room(Room::WHOLE),
            summary: RunSummary::without_text(),
            place: Place::End,
            output: None,
            is_gone: false,
        }
    }

    /// Adds what was read of the run's record.
    pub(crate) fn apply(&mut self, events: &[RunEvent]) {
        self.summary.apply_all(events);
        self.window.apply(events, &self.summary);
    }

    /// Returns the page that is shown: what happened, or what the run answered.
    pub(crate) fn page(&self, columns: usize) -> Page<'_> {
        match &self.output {
            Some(output) => {
                let lines = output.text.lines().map(|line| Line::new(Role::Plain, line));
                Page::of_lines(lines.collect(), columns)
            }
            None => Page::of_window(&self.window, &self.partial_lines(), columns),
        }
    }

    pub(crate) fn place(&self) -> Place {
        self.output
            .as_ref()
            .map_or(self.place, |output| output.place)
    }

    pub(crate) fn place_mut(&mut self) -> &mut Place {
        match &mut self.output {
            Some(output) => &mut output.place,
            None => &mut self.place,
        }
    }

    /// Returns the lines below the record: the whole of the message that is being written, and what
    /// happened to the record itself.
    fn partial_lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(partial) = self.window.partial() {
            let words = partial.text.lines().filter(|line| !line.trim().is_empty());
            lines.extend(words.map(|line| Line::new(Role::Plain, line)));
            lines.extend(
                describe(&partial.activity).map(|activity| Line::new(Role::Muted, &activity)),
            );
        }
        if self.is_gone {
            lines.push(Line::new(
                Role::Warning,
                "The record of this run was deleted; this is what had been read of it.",
            ));
        }
        lines
    }
}

impl Output {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text::clean(text),
            place: Place::BEGINNING,
        }
    }
}
