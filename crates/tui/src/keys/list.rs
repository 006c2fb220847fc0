//! Keys in the list of runs.

use crossterm::event::KeyCode;
use pi_subagents_view::Role;

use crate::layout::Layout;
use crate::message::{Effect, Notice};
use crate::model::{Focus, Model, Purpose};
use crate::scope::ScreenScope;
use crate::sort_order::SortBy;

impl Model {
    pub(super) fn press_in_list(&mut self, code: KeyCode) -> Option<Effect> {
        self.list.goes_to_end = false;
        let page = isize::try_from(Layout::of(self).list.height.max(1)).unwrap_or(1);
        match code {
            KeyCode::Char('q') => return Some(Effect::Leave),
            KeyCode::Esc => self.end_filter(),
            KeyCode::Up | KeyCode::Char('k') => self.choose_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.choose_by(1),
            KeyCode::PageUp => self.choose_by(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.choose_by(page),
            KeyCode::Home | KeyCode::Char('g') => self.choose_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => {
                self.choose_by(isize::MAX);
                self.list.goes_to_end = self.list.older() > 0;
            }
            KeyCode::Enter | KeyCode::Right => self.open_window(),
            KeyCode::Char('/') => self.begin_typing(Purpose::Filter),
            KeyCode::Char('A') => self.sort_by(SortBy::Age),
            KeyCode::Char('C') => self.sort_by(SortBy::Cost),
            KeyCode::Char('S') => self.sort_by(SortBy::Status),
            KeyCode::Char('n') => {
                self.begin_typing(Purpose::Start);
                return Some(Effect::ReadDefinitions);
            }
            _ => {}
        }
        None
    }

    /// Gives the window of the selected run the whole screen.
    pub(super) fn open_window(&mut self) {
        if self.opened.is_some() {
            self.focus = Focus::Window;
            self.is_zoomed = true;
            self.chosen.clone_from(&self.selected);
        }
    }

    /// Shows all runs again; the selected run stays selected.
    fn end_filter(&mut self) {
        if self.list.filter().is_empty() {
            let text = "Press q to leave; the runs continue.";
            self.notice = Some(Notice::new(Role::Muted, text));
            return;
        }
        self.list.set_filter("");
        self.select_again();
    }

    fn sort_by(&mut self, by: SortBy) {
        let sorting = self.list.sorting().asked(by);
        self.list.set_sorting(sorting);
    }

    /// Shows the runs of this project, or of all projects if the list already shows this one.
    pub(super) fn show_more_or_fewer(&mut self) -> Effect {
        self.close_window();
        let project = ScreenScope::Project(self.project.clone());
        let (scope, text) = if self.scope == project {
            (ScreenScope::All, "These are the runs of all projects.")
        } else {
            (
                project,
                "These are the runs of this project, and all that are running.",
            )
        };
        self.scope = scope;
        self.notice = Some(Notice::new(Role::Muted, text));
        Effect::Look
    }
}
