//! The run whose window is open: all of it, from the beginning, and the place of its reader.

use pi_subagents_records::IndexedRun;
use pi_subagents_view::ScreenSize;
use pi_subagents_view::{
    Line, PreviewContext, Role, Room, Window, describe, error_lines, receipt_facts,
};
use pi_subagents_vocabulary::{Happening, RunEvent, RunSummary, Status};

use super::page::{Page, Place};
use super::search::Way;
use super::sheet::{Reading, Sheet};
use super::transcript::Transcript;

/// The title of a receipt, before the id of its run.
const RECEIPT: &str = "receipt of ";

/// The run whose window is open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    /// The number of its opening: windows are counted from the first.
    pub(crate) number: u64,
    pub(crate) run: IndexedRun,
    /// The facts that its header shows.
    pub(crate) window: Window,
    summary: RunSummary,
    /// Everything that happened in the run.
    happened: Sheet,
    /// The answer or the receipt with its title, if it is shown instead of the run's events.
    answer: Option<(&'static str, Sheet)>,
    context: PreviewContext,
    pub(crate) is_gone: bool,
}

impl Opened {
    pub(crate) fn new(number: u64, run: IndexedRun, context: PreviewContext) -> Self {
        let window = Window::new(run.run.clone(), context.clone());
        Self {
            number,
            run,
            window: window.with_room(Room::LAST_LINE),
            summary: RunSummary::without_text(),
            happened: Sheet::default(),
            answer: None,
            context,
            is_gone: false,
        }
    }

    /// Adds events from the run's record.
    pub(crate) fn apply(&mut self, events: &[RunEvent]) {
        for event in events {
            if let Happening::Accepted(task) = &event.happening {
                self.context.cwd.clone_from(&task.cwd);
            }
        }
        self.summary.apply_all(events);
        self.window.apply(events, &self.summary);
        self.happened.transcript.apply(events);
    }

    /// Shows the receipt in place of the events; false if there is no receipt yet.
    pub(crate) fn show_receipt(&mut self) -> bool {
        let Some(receipt) = self.summary.receipt() else {
            return false;
        };
        let facts = receipt_facts(&receipt, usize::MAX).into_iter();
        let lines = facts.map(|(label, role, words)| {
            Line::new(Role::Muted, &format!("{label:10}")).with(role, &words)
        });
        self.show_lines(RECEIPT, lines.collect());
        true
    }

    /// Takes the files that git found in the worktree of the run. A receipt that is shown has them
    /// from now on.
    pub(crate) fn take_changed_files(&mut self, files: Vec<String>) {
        self.summary.witness.take_worktree(files);
        let shown = self.answer.as_ref().map(|(title, _)| *title);
        if shown == Some(RECEIPT) {
            self.show_receipt();
        }
    }

    /// Shows an answer in place of the events.
    pub(crate) fn show_answer(&mut self, text: &str) {
        self.show("answer of ", text);
    }

    /// Shows lines in place of what happened.
    pub(crate) fn show_lines(&mut self, title: &'static str, lines: Vec<Line>) {
        self.show_transcript(title, Transcript::of_lines(lines));
    }

    fn show(&mut self, title: &'static str, text: &str) {
        self.show_transcript(title, Transcript::of_text(text));
    }

    fn show_transcript(&mut self, title: &'static str, transcript: Transcript) {
        let sheet = Sheet {
            transcript,
            place: Place::BEGINNING,
            ..Sheet::default()
        };
        self.answer = Some((title, sheet));
    }

    /// Returns the words before the run's id. They name the text that is shown instead of the run's
    /// events.
    pub(crate) fn title(&self) -> &'static str {
        self.answer.as_ref().map_or("", |(title, _)| title)
    }

    /// Goes back from the answer to the events; false if they were shown already.
    pub(crate) fn hide_answer(&mut self) -> bool {
        self.answer.take().is_some()
    }

    pub(crate) fn shows_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns the sheet that is read: the events, or the answer of the run.
    pub(crate) fn sheet(&self) -> &Sheet {
        let answer = self.answer.as_ref().map(|(_, sheet)| sheet);
        answer.unwrap_or(&self.happened)
    }

    /// Returns the page that is read, in this number of columns and rows.
    pub(crate) fn page(&self, size: ScreenSize) -> Page<'_> {
        Page::new(self.sheet(), self.tail(), self.context.clone(), size)
    }

    /// Fulfils a wish of the page's reader.
    pub(crate) fn read(&mut self, reading: &Reading, size: ScreenSize) {
        self.with_sheet(size, |sheet, page| sheet.read(reading, page));
    }

    /// Begins to look for words.
    pub(crate) fn begin_search(&mut self) {
        self.with_sheet(ScreenSize::default(), |sheet, _| sheet.begin_search());
    }

    /// Looks for these words. Returns whether they are there.
    pub(crate) fn search(&mut self, words: &str, size: ScreenSize) -> bool {
        self.with_sheet(size, |sheet, page| sheet.search(words, page))
    }

    /// Goes to the next or the previous place that has the words. Returns whether there is any.
    pub(crate) fn find_next(&mut self, way: Way, size: ScreenSize) -> bool {
        self.with_sheet(size, |sheet, page| sheet.find_next(way, page))
    }

    /// Goes back to where the search began.
    pub(crate) fn cancel_search(&mut self) {
        self.with_sheet(ScreenSize::default(), |sheet, _| sheet.cancel_search());
    }

    /// Forgets the search; false if there was none.
    pub(crate) fn end_search(&mut self) -> bool {
        self.with_sheet(ScreenSize::default(), |sheet, _| {
            sheet.search.take().is_some()
        })
    }

    /// Calls a function with the sheet that is read, and with pages of it.
    fn with_sheet<T>(
        &mut self,
        size: ScreenSize,
        act: impl FnOnce(&mut Sheet, &dyn Fn(&Sheet) -> Page<'_>) -> T,
    ) -> T {
        let tail = self.tail();
        let context = self.context.clone();
        let answer = self.answer.as_mut().map(|(_, sheet)| sheet);
        let sheet = answer.unwrap_or(&mut self.happened);
        act(sheet, &|sheet| {
            Page::new(sheet, tail.clone(), context.clone(), size)
        })
    }

    /// Returns the lines below the record: the whole partial message, the ending of the run, and
    /// problems of the record itself.
    fn tail(&self) -> Vec<Line> {
        if self.shows_answer() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if let Some(partial) = self.window.partial() {
            let words = partial.text.lines().filter(|line| !line.trim().is_empty());
            lines.extend(words.map(|line| Line::new(Role::Plain, line)));
            let activity = describe(&partial.activity);
            lines.extend(activity.map(|activity| Line::new(Role::Muted, &activity)));
        }
        lines.extend(error_lines(&self.window));
        if self.is_gone {
            lines.push(Line::new(
                Role::Warning,
                "The record of this run was deleted; this is what had been read of it.",
            ));
        }
        let is_silent = self.happened.transcript.numbers().len() <= 1;
        if lines.is_empty() && is_silent {
            lines.extend(silence(self.window.status()).map(|words| Line::new(Role::Muted, words)));
        }
        lines
    }
}

/// Says why a window has nothing to show yet.
fn silence(status: Status) -> Option<&'static str> {
    match status {
        Status::Running => Some("(starting...)"),
        Status::Completed => Some("(no output)"),
        Status::Queued | Status::Waiting | Status::Parked | Status::Failed | Status::Stopped => {
            None
        }
    }
}
