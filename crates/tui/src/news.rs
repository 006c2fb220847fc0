//! Takes news from the disk and from owners into the model.

use pi_subagents_records::IndexedRun;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{PartialMessage, RunEvent, RunId};

use super::clipboard::{LONGEST_COPY, copied};
use super::list_row::{ListRow, Record};
use super::message::{AnswerUse, Effect, Notice, Subject};
use super::model::{DEFAULT_DEFINITION, Focus, Mode, Model, Question};
use super::opened_run::Opened;
use super::results::Fitting;
use super::scope::ScopedRuns;

impl Model {
    /// Takes the runs of the index. Returns the effect for the runs that have ended since the last
    /// look.
    pub(super) fn take_index(&mut self, read: ScopedRuns) -> Vec<Effect> {
        let was_open = |run: &&IndexedRun| {
            let row = self.list.row(&run.run);
            row.is_some_and(|row| row.run.is_open())
        };
        let over = read.runs.iter().filter(|run| !run.is_open());
        let ended: Vec<IndexedRun> = over.filter(was_open).cloned().collect();
        self.list.replace(read, &self.context);
        self.select_after_reading();
        if ended.is_empty() {
            return Vec::new();
        }
        vec![Effect::RunsEnded(ended)]
    }

    /// Selects the same run as before. An old run that nobody has chosen is replaced by a run that
    /// begins, and every run by a run that was started here.
    fn select_after_reading(&mut self) {
        if let Some(run) = self.awaited.take_if(|run| self.list.row(run).is_some()) {
            self.list.set_filter("");
            self.choose(Some(run));
            return;
        }
        if self.list.goes_to_end && self.list.older() == 0 {
            self.list.goes_to_end = false;
            self.choose_by(isize::MAX);
            return;
        }
        let is_meant = |row: &&ListRow| self.has_been_touched || row.live.is_some();
        let row = self.selected_row().filter(is_meant);
        match row.map(|row| row.run.run.clone()) {
            Some(run) if self.list.place_of(&run).is_some() => self.select(Some(run)),
            _ => self.select_again(),
        }
        if self.opened.is_none() {
            self.is_zoomed = false;
            self.focus = Focus::List;
        }
    }

    pub(super) fn apply(&mut self, subject: &Subject, events: &[RunEvent]) {
        match subject {
            Subject::Row(run) => self.list.apply(run, events),
            Subject::Window(run, number) => {
                let opened = self.opened_of(run);
                if let Some(opened) = opened.filter(|opened| opened.number == *number) {
                    opened.apply(events);
                }
            }
        }
    }

    pub(super) fn show_partial(&mut self, run: &RunId, message: PartialMessage) {
        let row = self.list.row_mut(run);
        if let Some(live) = row.and_then(|row| row.live.as_mut()) {
            live.window.show_partial(message.newest());
        }
        if let Some(opened) = self.opened_of(run) {
            opened.window.show_partial(message);
        }
    }

    pub(super) fn note_gone(&mut self, run: &RunId) {
        if let Some(row) = self.list.row_mut(run) {
            row.record = Record::Gone;
        }
        if let Some(opened) = self.opened_of(run) {
            opened.is_gone = true;
        }
    }

    pub(super) fn take_records(&mut self, records: Vec<(RunId, Record)>) {
        for (run, record) in records {
            if let Some(row) = self.list.row_mut(&run) {
                row.record = record;
            }
        }
        if self.reads_all() {
            self.list.relist();
            if self.selected.is_none() {
                self.select_again();
            }
        }
    }

    pub(super) fn take_answer(
        &mut self,
        run: &RunId,
        wanted: AnswerUse,
        text: Option<String>,
    ) -> Option<Effect> {
        let name = self.list.row(run)?.run.name.clone();
        let Some(text) = text else {
            let text = format!("{name} has not answered anything yet.");
            self.notice = Some(Notice::new(Role::Muted, text));
            return None;
        };
        match wanted {
            AnswerUse::Show => {
                self.opened_of(run)?.show_answer(&text);
                None
            }
            AnswerUse::Copy if text.len() > LONGEST_COPY => {
                let text = format!("It is too long to copy; use pi-subagents output {run}.");
                self.notice = Some(Notice::new(Role::Warning, text));
                None
            }
            AnswerUse::Copy => {
                self.notice = Some(copied(&format!("the answer of {name}")));
                Some(Effect::Copy(text))
            }
        }
    }

    pub(super) fn take_changed_files(&mut self, run: &RunId, files: Option<Vec<String>>) {
        if let (Some(opened), Some(files)) = (self.opened_of(run), files) {
            opened.take_changed_files(files);
        }
    }

    pub(super) fn take_diff(&mut self, run: &RunId, lines: Result<Vec<Line>, String>) {
        match lines {
            Ok(lines) => {
                if let Some(opened) = self.opened_of(run) {
                    opened.show_lines("changes of ", lines);
                }
            }
            Err(problem) => self.notice = Some(Notice::new(Role::Warning, problem)),
        }
    }

    /// Shows what fits, and asks whether to merge if the run fits its checkout.
    pub(super) fn take_fitting(&mut self, run: RunId, fitting: Result<Fitting, String>) {
        let fitting = match fitting {
            Ok(fitting) => fitting,
            Err(problem) => {
                self.notice = Some(Notice::new(Role::Warning, problem));
                return;
            }
        };
        // Another run was selected meanwhile, or somebody types.
        if self.mode != Mode::Browsing || self.opened_of(&run).is_none() {
            return;
        }
        if let Some(opened) = self.opened_of(&run) {
            opened.show_lines("merge of ", fitting.page);
        }
        if fitting.fits {
            self.notice = None;
            self.mode = Mode::Confirming(Question::Merge(run));
        } else {
            let text = "It does not fit its checkout, so nothing was merged.";
            self.notice = Some(Notice::new(Role::Failed, text));
        }
    }

    /// Takes the names of the definitions; the chosen definition stays chosen.
    pub(super) fn take_definitions(&mut self, mut names: Vec<String>) {
        if !names.iter().any(|name| name == DEFAULT_DEFINITION) {
            names.insert(0, DEFAULT_DEFINITION.to_owned());
        }
        let chosen = self.definition().to_owned();
        let place = names.iter().position(|name| *name == chosen);
        self.definitions = (names, place.unwrap_or(0));
    }

    /// Returns the definition that a new run gets.
    pub(crate) fn definition(&self) -> &str {
        let (names, place) = &self.definitions;
        names.get(*place).map_or(DEFAULT_DEFINITION, String::as_str)
    }

    pub(super) fn opened_of(&mut self, run: &RunId) -> Option<&mut Opened> {
        self.opened.as_mut().filter(|opened| opened.run.run == *run)
    }
}
