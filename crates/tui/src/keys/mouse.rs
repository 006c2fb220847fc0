//! The mouse: the wheel scrolls the part under it, a click selects, and a click on the selected row
//! opens it.

use ratatui::layout::{Position, Rect};

use crate::layout::Layout;
use crate::message::{Effect, MouseAct};
use crate::model::{Focus, Mode, Model};
use crate::sheet::Reading;

/// The number of rows that one step of the wheel scrolls.
const WHEEL_ROWS: isize = 3;

impl Model {
    pub(crate) fn moused(&mut self, act: MouseAct, column: u16, row: u16) -> Option<Effect> {
        self.touched();
        if self.mode != Mode::Browsing {
            return None;
        }
        let layout = Layout::of(self);
        let position = Position::new(column, row);
        let in_list = layout.list.contains(position);
        let in_page = layout.page.contains(position);
        match act {
            MouseAct::Click if in_list => self.click_in_list(row - layout.list.y),
            MouseAct::Click if in_page => self.click_in_page(layout.page, row),
            MouseAct::Click => {}
            MouseAct::WheelUp if in_list => self.choose_by(-1),
            MouseAct::WheelDown if in_list => self.choose_by(1),
            MouseAct::WheelUp => self.read(&Reading::Scroll(-WHEEL_ROWS)),
            MouseAct::WheelDown => self.read(&Reading::Scroll(WHEEL_ROWS)),
        }
        None
    }

    fn click_in_list(&mut self, row: u16) {
        let (_, seen) = self.seen_rows();
        let Some(clicked) = seen.get(usize::from(row)) else {
            return;
        };
        let run = clicked.run.run.clone();
        let is_again = self.focus == Focus::List && self.selected.as_ref() == Some(&run);
        self.focus = Focus::List;
        if is_again {
            self.open_window();
        } else {
            self.choose(Some(run));
        }
    }

    fn click_in_page(&mut self, page: Rect, row: u16) {
        self.focus = Focus::Window;
        let size = self.page_size();
        let Some(opened) = &self.opened else {
            return;
        };
        let drawn = opened.page(size);
        let rows = drawn.rows(opened.sheet().place);
        let clicked = rows.get(usize::from(row - page.y)).map(|row| row.entry);
        let clicked = clicked.filter(|entry| drawn.can_open(*entry));
        if clicked.is_some() {
            self.read(&Reading::Toggle(clicked));
        }
    }
}
