//! Keys in the window of a run.

use crossterm::event::KeyCode;
use pi_subagents_view::Role;
use pi_subagents_view::ScreenSize;

use crate::layout::Layout;
use crate::message::{Effect, Notice};
use crate::model::{Focus, Model, Purpose};
use crate::page::Place;
use crate::scope::ScreenScope;
use crate::search::Way;
use crate::sheet::Reading;

impl Model {
    pub(super) fn press_in_window(&mut self, code: KeyCode) -> Option<Effect> {
        let page = isize::try_from(self.page_size().rows.saturating_sub(1).max(1)).unwrap_or(1);
        let reading = match code {
            KeyCode::Char('q') => return self.back().then_some(Effect::Leave),
            KeyCode::Esc | KeyCode::Left => {
                if self.back() {
                    let text = "Press q to leave; the run continues.";
                    self.notice = Some(Notice::new(Role::Muted, text));
                }
                return None;
            }
            KeyCode::Char('/') => {
                self.begin_typing(Purpose::Search);
                return None;
            }
            KeyCode::Char('n') => return self.find_next(Way::Down),
            KeyCode::Char('N') => return self.find_next(Way::Up),
            KeyCode::Up | KeyCode::Char('k') => Reading::Scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => Reading::Scroll(1),
            KeyCode::PageUp => Reading::Scroll(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => Reading::Scroll(page),
            KeyCode::Home | KeyCode::Char('g') => Reading::Put(Place::BEGINNING),
            KeyCode::End | KeyCode::Char('G') => Reading::Put(Place::End),
            KeyCode::Char('[') => Reading::Mark { is_down: false },
            KeyCode::Char(']') => Reading::Mark { is_down: true },
            KeyCode::Char('e') => Reading::ToggleAll,
            KeyCode::Char('f') => Reading::Follow,
            KeyCode::Enter => {
                self.toggle_marked();
                return None;
            }
            _ => return None,
        };
        self.read(&reading);
        None
    }

    /// Opens or closes the tool call that is marked.
    pub(super) fn toggle_marked(&mut self) {
        let size = self.page_size();
        let opened = self.opened.as_ref();
        let marked = opened.and_then(|opened| opened.page(size).marked(opened.sheet().place));
        if marked.is_none() {
            let text = "There is no tool call on the screen to open.";
            self.notice = Some(Notice::new(Role::Muted, text));
        }
        self.read(&Reading::Toggle(marked));
    }

    pub(super) fn read(&mut self, reading: &Reading) {
        let size = self.page_size();
        if let Some(opened) = &mut self.opened {
            opened.read(reading, size);
        }
    }

    /// Returns the columns and rows of the page.
    pub(crate) fn page_size(&self) -> ScreenSize {
        let page = Layout::of(self).page;
        ScreenSize {
            columns: page.width.into(),
            rows: page.height.into(),
        }
    }

    fn find_next(&mut self, way: Way) -> Option<Effect> {
        let size = self.page_size();
        let opened = self.opened.as_mut()?;
        let text = match &opened.sheet().search {
            None => "Press / to search the text.".to_owned(),
            Some(search) => format!("\"{}\" is not in the text.", search.words),
        };
        if !opened.find_next(way, size) {
            self.notice = Some(Notice::new(Role::Muted, text));
        }
        None
    }

    /// Goes one step back: from the search, from the answer, from the window to the list. Returns
    /// true if there is nothing to go back to.
    fn back(&mut self) -> bool {
        if let Some(opened) = &mut self.opened
            && (opened.end_search() || opened.hide_answer())
        {
            return false;
        }
        if matches!(self.scope, ScreenScope::Run(_)) {
            return true;
        }
        self.close_window();
        false
    }

    pub(super) fn close_window(&mut self) {
        self.is_zoomed = false;
        self.focus = Focus::List;
    }
}
