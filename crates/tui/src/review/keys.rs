//! What each key does.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_view::Role;

use super::item::{ItemKind, ReviewItem};
use super::model::{Doubt, ReviewEffect, ReviewMode, ReviewModel, TypedFor, failed};
use crate::line_editor::LineEditor;
use crate::message::Notice;

/// The lines by which a page is turned, beside the rows that stay.
const KEPT: usize = 8;

/// Every key and what it does.
pub(super) const KEYS: [(&str, &str); 20] = [
    (
        "j k ↓ ↑",
        "next or previous; in a result the lines of the difference",
    ),
    ("J K", "next or previous result, from inside a result too"),
    ("Enter", "open a result; in a folded file show it"),
    ("Esc", "back to the queue"),
    ("[ ]", "previous or next file"),
    ("n p", "next or previous hunk"),
    ("PgUp PgDn", "previous or next page"),
    (
        "Space f",
        "leave out this hunk or the whole file, or take it again",
    ),
    ("a", "accept this result, or the chosen parts of it"),
    ("A", "accept all that are listed, as far as they stay green"),
    ("u", "undo the last accept"),
    (
        "m",
        "give a run that waits for its budget half as much again",
    ),
    ("c", "comment on the line with the cursor"),
    (
        "b",
        "send back to the sub-agent, with the comments and a note",
    ),
    (
        "o",
        "do it again on top of another result, with which it conflicts",
    ),
    ("l", "later, or now again"),
    ("x", "discard a result, or list a failed run no more"),
    ("g", "read the queue again"),
    ("?", "this help"),
    ("q", "leave"),
];

impl ReviewModel {
    pub(super) fn pressed(&mut self, key: KeyEvent) -> Vec<ReviewEffect> {
        self.notice = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return vec![ReviewEffect::Leave];
        }
        match std::mem::replace(&mut self.mode, ReviewMode::Browsing) {
            ReviewMode::Browsing => self.browse(key),
            ReviewMode::Typing(purpose, editor) => self.typed(purpose, editor, key),
            ReviewMode::Confirming(doubt) if key.code == KeyCode::Char('y') => {
                self.confirmed(doubt)
            }
            ReviewMode::Help | ReviewMode::Confirming(_) => Vec::new(),
        }
    }

    fn browse(&mut self, key: KeyEvent) -> Vec<ReviewEffect> {
        let is_opened = self.opened.is_some();
        let line = self.opened.as_ref().map_or(0, |opened| opened.line);
        let file = self.opened.as_ref().map_or(0, |opened| opened.file);
        let page = usize::from(self.size.height).saturating_sub(KEPT).max(1);
        match key.code {
            KeyCode::Char('q') => return vec![ReviewEffect::Leave],
            KeyCode::Char('?') => self.mode = ReviewMode::Help,
            KeyCode::Char('g') => return vec![ReviewEffect::ReadQueue],
            KeyCode::Esc | KeyCode::Left => self.opened = None,
            KeyCode::Char('j') | KeyCode::Down if is_opened => self.move_to(line + 1),
            KeyCode::Char('k') | KeyCode::Up if is_opened => self.move_to(line.saturating_sub(1)),
            KeyCode::Char('j' | 'J') | KeyCode::Down => return self.select(self.selected + 1),
            KeyCode::Char('k' | 'K') | KeyCode::Up => {
                return self.select(self.selected.saturating_sub(1));
            }
            KeyCode::Char(' ') if is_opened => self.toggle(false),
            KeyCode::Char('f') if is_opened => self.toggle(true),
            KeyCode::PageDown => self.move_to(line + page),
            KeyCode::PageUp => self.move_to(line.saturating_sub(page)),
            KeyCode::Home => self.move_to(0),
            KeyCode::End => self.move_to(usize::MAX),
            KeyCode::Char(']') => return self.show_file(file + 1),
            KeyCode::Char('[') => return self.show_file(file.saturating_sub(1)),
            KeyCode::Char('n') => self.move_to_hunk(true),
            KeyCode::Char('p') => self.move_to_hunk(false),
            KeyCode::Enter | KeyCode::Right if !is_opened => return self.open(),
            KeyCode::Enter => {
                if let Some(opened) = &mut self.opened {
                    opened.is_unfolded = true;
                }
            }
            KeyCode::Char('c') => self.begin_comment(),
            KeyCode::Char(letter) => return self.act(letter),
            _ => {}
        }
        Vec::new()
    }

    /// Does what changes something, unless other work goes on.
    fn act(&mut self, letter: char) -> Vec<ReviewEffect> {
        if let Some(working) = &self.working {
            let words = format!("{}; wait until that has ended", working.words);
            self.notice = Some(Notice::new(Role::Warning, words));
            return Vec::new();
        }
        let kind = self.item().map(|item| item.kind);
        match (letter, kind) {
            ('a', Some(ItemKind::Change)) => {
                let run = self.item().map(|item| item.run.clone());
                self.ask_to_accept(run.into_iter().collect());
            }
            ('A', _) => self.ask_to_accept(self.together()),
            ('m', Some(_)) if self.item().is_some_and(|item| item.raise.is_some()) => {
                self.mode = ReviewMode::Confirming(Doubt::Raise);
            }
            ('u', _) => self.mode = ReviewMode::Confirming(Doubt::Undo),
            // A run that goes on when its budget is raised is not over.
            ('x' | 'b', Some(ItemKind::Limit))
                if self.item().is_some_and(ReviewItem::is_paused) =>
            {
                let words = "it waits for its budget: m raises that";
                self.notice = Some(failed(words));
            }
            ('x', Some(ItemKind::Change | ItemKind::Failure | ItemKind::Limit)) => {
                self.mode = ReviewMode::Confirming(Doubt::Discard);
            }
            ('b', Some(ItemKind::Change | ItemKind::Failure | ItemKind::Limit)) => {
                self.mode = ReviewMode::Typing(TypedFor::Note, LineEditor::default());
            }
            ('o', Some(ItemKind::Change)) => {
                let mut editor = LineEditor::default();
                let clash = self.item().and_then(|item| item.clashes.first());
                editor.insert(clash.map_or("", String::as_str));
                self.mode = ReviewMode::Typing(TypedFor::Ground, editor);
            }
            (
                'l',
                Some(ItemKind::Change | ItemKind::Failure | ItemKind::Limit | ItemKind::Question),
            ) => {
                let run = self.item().map(|item| item.run.clone());
                return run.map(ReviewEffect::Later).into_iter().collect();
            }
            ('a' | 'b' | 'o' | 'x' | 'l' | 'm', _) => {
                self.notice = Some(failed("that is not for what is selected"));
            }
            _ => {}
        }
        Vec::new()
    }

    fn begin_comment(&mut self) {
        if self.shown_diff().is_some_and(|diff| !diff.lines.is_empty()) {
            self.mode = ReviewMode::Typing(TypedFor::Comment, LineEditor::default());
        } else {
            self.notice = Some(failed("open a file of a result to comment on a line"));
        }
    }

    fn typed(
        &mut self,
        purpose: TypedFor,
        mut editor: LineEditor,
        key: KeyEvent,
    ) -> Vec<ReviewEffect> {
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                let words = editor.text();
                let is_empty = words.trim().is_empty();
                return match purpose {
                    TypedFor::Comment if is_empty => Vec::new(),
                    TypedFor::Comment => {
                        self.comment(words);
                        Vec::new()
                    }
                    TypedFor::Note if is_empty && self.own_comments().is_empty() => {
                        self.notice = Some(failed("say what should change, or comment on a line"));
                        Vec::new()
                    }
                    TypedFor::Note => self.send_back(words, None),
                    TypedFor::Ground => self.redo_on(words.trim()),
                };
            }
            _ => _ = editor.press(key),
        }
        self.mode = ReviewMode::Typing(purpose, editor);
        Vec::new()
    }

    fn confirmed(&mut self, doubt: Doubt) -> Vec<ReviewEffect> {
        let item = self.item().map(|item| (item.run.clone(), item.kind));
        let effect = match (doubt, item) {
            (Doubt::Accept(wanted), _) => {
                let words = match wanted.only.len() {
                    1 => "the result is tried",
                    _ => "the results are tried",
                };
                self.begin_work(words, false);
                ReviewEffect::Accept(wanted)
            }
            (Doubt::Undo, _) => {
                self.begin_work("the last accept is taken back", true);
                ReviewEffect::Undo
            }
            (Doubt::Discard, Some((run, ItemKind::Change))) => {
                self.begin_work("the result is discarded", false);
                ReviewEffect::Discard(run)
            }
            (Doubt::Discard, Some((run, _))) => {
                self.begin_work("the run is dismissed", false);
                ReviewEffect::Dismiss(run)
            }
            (Doubt::Raise, Some((run, _))) => {
                self.begin_work("its budget is raised", false);
                ReviewEffect::Raise(run)
            }
            (Doubt::Discard | Doubt::Raise, None) => return Vec::new(),
        };
        vec![effect]
    }
}
