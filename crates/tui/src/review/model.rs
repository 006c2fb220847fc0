//! The model of the screen: a fold over everything that happens.

use std::collections::{HashMap, HashSet};

use pi_subagents_calls::review_desk::WantedAccept;
use pi_subagents_git::ChangePart;
use pi_subagents_runs::review::WantedParts;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::{
    DiffSide, FileDiff, LineComment, RiskTier, SentBack, is_folded,
};
use pi_subagents_vocabulary::text::one_line;
use ratatui::layout::Size;

use super::item::{ItemKind, ReviewItem};
use super::parts::ShownParts;
use crate::line_editor::LineEditor;
use crate::message::Notice;

/// Something that happened.
#[derive(Debug)]
pub(super) enum ReviewMessage {
    Pressed(crossterm::event::KeyEvent),
    Pasted(String),
    Resized(Size),
    /// The queue was read.
    QueueRead(Result<SeenQueue, String>),
    /// The difference of a file of a result was read.
    DiffRead(RunId, usize, Result<FileDiff, String>),
    /// The parts of a result were read.
    PartsRead(RunId, Result<Vec<ChangePart>, String>),
    /// Work goes on, and this is what it does now.
    WorkedOn(Work),
    /// Work has ended, and this is what came of it. The queue is to be read again.
    Finished(Notice),
}

/// The queue as it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenQueue {
    pub(super) items: Vec<ReviewItem>,
    /// The gate that the settings name for reviews.
    pub(super) gate: Option<String>,
    /// The reason why no result that waits can be found, if none can.
    pub(super) problem: Option<String>,
}

/// Work that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    /// What it does now.
    pub(super) words: String,
    /// True if it writes into the checkout, and must not be cut off.
    pub(super) lands: bool,
}

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReviewEffect {
    Leave,
    ReadQueue,
    /// The difference of a file of a result is to be read.
    ReadDiff(RunId, usize),
    /// The parts of a result are to be read.
    ReadParts(RunId),
    /// Results are to be accepted as far as they stay green.
    Accept(WantedAccept),
    Undo,
    /// The budgets that a run waits for are to be raised.
    Raise(RunId),
    Discard(RunId),
    /// A failed run is to be listed no more.
    Dismiss(RunId),
    Later(RunId),
    /// A result goes back to its sub-agent.
    SendBack(WantedReturn),
}

/// A result that goes back to its sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedReturn {
    pub(super) run: RunId,
    pub(super) sent: SentBack,
    /// The result on whose top it is done again.
    pub(super) on: Option<RunId>,
}

/// Everything the screen shows.
#[derive(Debug)]
pub(super) struct ReviewModel {
    /// Columns and rows.
    pub(super) size: Size,
    /// The project, in few words.
    pub(super) project: String,
    /// `None` before the queue was read.
    pub(super) items: Option<Vec<ReviewItem>>,
    /// The gate that the settings name for reviews.
    pub(super) gate: Option<String>,
    /// The reason why no result that waits can be found.
    pub(super) problem: Option<String>,
    pub(super) selected: usize,
    /// The opened result; `None` if the queue is shown.
    pub(super) opened: Option<OpenedResult>,
    pub(super) mode: ReviewMode,
    diffs: HashMap<(RunId, usize), Result<FileDiff, String>>,
    pub(super) parts: ShownParts,
    pub(super) comments: HashMap<RunId, Vec<LineComment>>,
    pub(super) notice: Option<Notice>,
    /// The work that goes on; no other begins meanwhile.
    pub(super) working: Option<Work>,
}

/// A result that is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OpenedResult {
    pub(super) file: usize,
    /// The line of the difference with the cursor.
    pub(super) line: usize,
    /// True if folded files are shown.
    pub(super) is_unfolded: bool,
}

/// The mode, which gives the keys their meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReviewMode {
    Browsing,
    Help,
    Typing(TypedFor, LineEditor),
    Confirming(Doubt),
}

/// The purpose for which a line is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypedFor {
    Comment,
    Note,
    /// The name of the result on whose top another is done again.
    Ground,
}

/// A question that is answered with yes or no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doubt {
    /// These results, with the gates that are named.
    Accept(WantedAccept),
    /// The budgets of a run are to be raised.
    Raise,
    Discard,
    Undo,
}

impl ReviewModel {
    pub(super) fn new(size: Size, project: String) -> Self {
        Self {
            size,
            project,
            items: None,
            gate: None,
            problem: None,
            selected: 0,
            opened: None,
            mode: ReviewMode::Browsing,
            diffs: HashMap::new(),
            parts: ShownParts::default(),
            comments: HashMap::new(),
            notice: None,
            working: None,
        }
    }

    /// Takes one more message, and returns the work that follows from it.
    pub(super) fn update(&mut self, message: ReviewMessage) -> Vec<ReviewEffect> {
        match message {
            ReviewMessage::Pressed(key) => return self.pressed(key),
            ReviewMessage::Pasted(text) => {
                if let ReviewMode::Typing(_, editor) = &mut self.mode {
                    editor.insert(&text);
                }
            }
            ReviewMessage::Resized(size) => self.size = size,
            ReviewMessage::QueueRead(Ok(queue)) => {
                self.gate = queue.gate;
                self.problem = queue.problem;
                self.take_queue(queue.items);
            }
            ReviewMessage::QueueRead(Err(why)) => self.notice = Some(failed(why)),
            ReviewMessage::DiffRead(run, file, diff) => _ = self.diffs.insert((run, file), diff),
            ReviewMessage::PartsRead(run, parts) => self.parts.take(run, parts),
            // News that comes behind the end of the work is old.
            ReviewMessage::WorkedOn(work) => self.working = self.working.take().map(|_| work),
            ReviewMessage::Finished(notice) => {
                self.working = None;
                self.notice = Some(notice);
                return vec![ReviewEffect::ReadQueue];
            }
        }
        self.wanted()
    }

    /// Takes a queue that was read again. The selected run stays selected if it still waits.
    fn take_queue(&mut self, items: Vec<ReviewItem>) {
        let chosen = self.item().map(|item| item.run.clone());
        let place = chosen.and_then(|run| items.iter().position(|item| item.run == run));
        if place.is_none() {
            self.opened = None;
        }
        let before = self.items.iter().flatten();
        let before: HashMap<&RunId, &str> = before
            .map(|item| (&item.run, item.states.as_str()))
            .collect();
        let is_same = |item: &&ReviewItem| before.get(&item.run) == Some(&item.states.as_str());
        let same: HashSet<&RunId> = items.iter().filter(is_same).map(|item| &item.run).collect();
        // What was read of a result that is another one now is old.
        self.diffs.retain(|(run, _), _| same.contains(run));
        self.parts.retain(|run| same.contains(run));
        let last = items.len().saturating_sub(1);
        self.selected = place.unwrap_or(self.selected.min(last));
        self.items = Some(items);
    }

    /// Returns the selected item.
    pub(super) fn item(&self) -> Option<&ReviewItem> {
        self.items.as_ref()?.get(self.selected)
    }

    /// Returns the number of items.
    pub(super) fn count(&self) -> usize {
        self.items.as_ref().map_or(0, Vec::len)
    }

    /// Returns the difference of a file of the selected item, once it was read.
    pub(super) fn diff(&self, file: usize) -> Option<&Result<FileDiff, String>> {
        self.diffs.get(&(self.item()?.run.clone(), file))
    }

    /// Returns whether the shown file is folded.
    pub(super) fn is_folded(&self) -> bool {
        let Some((opened, item)) = self.opened.as_ref().zip(self.item()) else {
            return false;
        };
        let file = item.files.get(opened.file);
        !opened.is_unfolded && file.is_some_and(|file| is_folded(&file.path))
    }

    /// Returns the work that what is shown makes necessary: the shown file, and the one after it.
    fn wanted(&mut self) -> Vec<ReviewEffect> {
        let Some(item) = self.item().filter(|item| item.kind == ItemKind::Change) else {
            return Vec::new();
        };
        let shown = self.opened.as_ref().map_or(0, |opened| opened.file);
        let files = [shown, shown + 1].into_iter();
        let unread = files.filter(|file| *file < item.files.len() && self.diff(*file).is_none());
        let unread = unread
            .take(1)
            .map(|file| ReviewEffect::ReadDiff(item.run.clone(), file));
        let mut wanted: Vec<ReviewEffect> = unread.collect();
        if self.opened.is_some() && !item.files.is_empty() {
            let run = item.run.clone();
            wanted.extend(self.parts.ask(&run).then_some(ReviewEffect::ReadParts(run)));
        }
        wanted
    }

    /// Selects another item, and shows it if one was shown.
    pub(super) fn select(&mut self, place: usize) -> Vec<ReviewEffect> {
        let last = self.count().saturating_sub(1);
        self.selected = place.min(last);
        if self.opened.is_some() {
            self.opened = Some(OpenedResult::default());
        }
        self.wanted()
    }

    /// Opens the selected result.
    pub(super) fn open(&mut self) -> Vec<ReviewEffect> {
        if self.item().is_some() {
            self.opened = Some(OpenedResult::default());
        }
        self.wanted()
    }

    /// Shows another file of the opened result.
    pub(super) fn show_file(&mut self, file: usize) -> Vec<ReviewEffect> {
        let last = self
            .item()
            .map_or(0, |item| item.files.len().saturating_sub(1));
        if let Some(opened) = &mut self.opened {
            *opened = OpenedResult {
                file: file.min(last),
                ..OpenedResult::default()
            };
        }
        self.wanted()
    }

    /// Moves the cursor in the difference.
    pub(super) fn move_to(&mut self, line: usize) {
        let lines = self.shown_diff().map_or(0, |diff| diff.lines.len());
        if let Some(opened) = &mut self.opened {
            opened.line = line.min(lines.saturating_sub(1));
        }
    }

    /// Moves the cursor to the hunk after it or before it.
    pub(super) fn move_to_hunk(&mut self, is_next: bool) {
        let Some((opened, diff)) = self.opened.as_ref().zip(self.shown_diff()) else {
            return;
        };
        let line = opened.line;
        let hunks = &diff.hunks;
        let found = if is_next {
            hunks.iter().find(|hunk| **hunk > line)
        } else {
            hunks.iter().rev().find(|hunk| **hunk < line)
        };
        if let Some(hunk) = found.copied() {
            self.move_to(hunk);
        }
    }

    /// Returns the shown difference, unless it is folded or not read yet.
    pub(super) fn shown_diff(&self) -> Option<&FileDiff> {
        let opened = self.opened.as_ref()?;
        if self.is_folded() {
            return None;
        }
        self.diff(opened.file)?.as_ref().ok()
    }

    /// Adds a comment on the line with the cursor.
    pub(super) fn comment(&mut self, words: String) {
        let Some((opened, diff)) = self.opened.as_ref().zip(self.shown_diff()) else {
            return;
        };
        let Some(line) = diff.lines.get(opened.line) else {
            return;
        };
        let Some(item) = self.item() else { return };
        let path = item.files.get(opened.file).map(|file| file.path.clone());
        let comment = LineComment {
            path: path.unwrap_or_default(),
            line: match line.side {
                DiffSide::Removed => None,
                DiffSide::Head | DiffSide::Both | DiffSide::Added | DiffSide::About => line.new,
            },
            quoted: line.text.clone(),
            words,
        };
        let run = item.run.clone();
        self.comments.entry(run).or_default().push(comment);
    }

    /// Returns the comments on the selected result.
    pub(super) fn own_comments(&self) -> &[LineComment] {
        let comments = self.item().and_then(|item| self.comments.get(&item.run));
        comments.map_or(&[], Vec::as_slice)
    }

    /// Names the gates that decide about results: those that their own calls have set, and that of the
    /// settings.
    fn gates_of(&self, runs: &[RunId]) -> Vec<String> {
        let items = self.items.iter().flatten();
        let own = items.filter(|item| runs.contains(&item.run));
        let own = own.flat_map(|item| &item.gates);
        let mut gates: Vec<String> = Vec::new();
        for gate in self.gate.iter().chain(own) {
            if !gates.contains(gate) {
                gates.push(gate.clone());
            }
        }
        gates
    }

    /// Names the file that is shown.
    fn shown_path(&self) -> Option<&str> {
        let opened = self.opened.as_ref()?;
        let file = self.item()?.files.get(opened.file)?;
        Some(&file.path)
    }

    /// Returns the shown hunk with the cursor, by its place; `None` if the file has none.
    fn shown_hunk(&self) -> Option<usize> {
        let line = self.opened.as_ref()?.line;
        let hunks = &self.shown_diff()?.hunks;
        let before = hunks.iter().filter(|hunk| **hunk <= line).count();
        Some(before.saturating_sub(1))
    }

    /// Leaves out the hunk with the cursor, or takes it again; the file if it has none or is meant.
    pub(super) fn toggle(&mut self, whole_file: bool) {
        let hunk = self.shown_hunk().filter(|_| !whole_file);
        let Some((run, path)) = self
            .item()
            .map(|item| item.run.clone())
            .zip(self.shown_path().map(str::to_owned))
        else {
            return;
        };
        if let Err(why) = self.parts.toggle(&run, &path, hunk) {
            self.notice = Some(failed(why));
        }
    }

    /// Asks whether results are to be accepted without the parts that are left out, with the gates that
    /// will run.
    pub(super) fn ask_to_accept(&mut self, mut only: Vec<RunId>) {
        if only.is_empty() {
            self.notice = Some(failed("nothing here can be accepted without another look"));
            return;
        }
        only.retain(|run| self.parts.chosen(run).is_none_or(|names| !names.is_empty()));
        if only.is_empty() {
            self.notice = Some(failed("everything is left out: Space takes a part again"));
            return;
        }
        let chosen = only.iter().filter_map(|run| {
            let names = self.parts.chosen(run)?;
            Some((run.clone(), WantedParts::Named(names)))
        });
        self.mode = ReviewMode::Confirming(Doubt::Accept(WantedAccept {
            parts: chosen.collect(),
            confirmed: Some(self.gates_of(&only)),
            only,
        }));
    }

    /// Lists the shown results that can be accepted together.
    pub(super) fn together(&self) -> Vec<RunId> {
        let items = self.items.iter().flatten();
        let meant = items.filter(|item| {
            !item.is_later && item.tier.is_some_and(|tier| tier <= RiskTier::Careful)
        });
        meant.map(|item| item.run.clone()).collect()
    }

    /// Names some of the listed runs.
    pub(super) fn names_of(&self, runs: &[RunId]) -> Vec<String> {
        let items = self.items.iter().flatten();
        let named = items.filter(|item| runs.contains(&item.run));
        named.map(|item| item.name.clone()).collect()
    }

    /// Notes that work has begun.
    pub(super) fn begin_work(&mut self, words: &str, lands: bool) {
        self.working = Some(Work {
            words: words.to_owned(),
            lands,
        });
    }

    /// Sends the selected result back on top of the result with this name.
    pub(super) fn redo_on(&mut self, name: &str) -> Vec<ReviewEffect> {
        let selected = self.item().map(|item| &item.run);
        let mut others = self.items.iter().flatten().filter(|item| {
            let is_other = item.kind == ItemKind::Change && Some(&item.run) != selected;
            is_other && (item.name == name || item.run.as_str() == name)
        });
        match (others.next(), others.next()) {
            (Some(other), None) => {
                let on = Some(other.run.clone());
                self.send_back(String::new(), on)
            }
            (Some(_), Some(_)) => {
                let words = format!("several results are called {}: type the id", one_line(name));
                self.notice = Some(failed(words));
                Vec::new()
            }
            (None, _) => {
                let words = format!("no other result is called {}", one_line(name));
                self.notice = Some(failed(words));
                Vec::new()
            }
        }
    }

    /// Sends the selected result back with its comments and a note, and on top of another one if that
    /// is wanted.
    pub(super) fn send_back(&mut self, note: String, on: Option<RunId>) -> Vec<ReviewEffect> {
        let Some(item) = self.item() else {
            return Vec::new();
        };
        let (run, name) = (item.run.clone(), item.name.clone());
        let comments = self.comments.remove(&run).unwrap_or_default();
        let sent = SentBack {
            name,
            comments,
            note,
        };
        self.begin_work("the result is sent back", false);
        vec![ReviewEffect::SendBack(WantedReturn { run, sent, on })]
    }
}

pub(super) fn failed(why: impl Into<String>) -> Notice {
    Notice::new(pi_subagents_view::Role::Failed, why)
}
