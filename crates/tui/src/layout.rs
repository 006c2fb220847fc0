//! Divides a screen of any size among its parts.

use ratatui::layout::{Position, Rect};

use super::model::{Focus, Model};

/// The smallest number of rows with which the list and the window are below each other.
const ROWS_FOR_BOTH: u16 = 5;

/// The smallest number of rows with a title.
const ROWS_FOR_TITLE: u16 = 5;

/// The smallest numbers of rows and columns with headings above the columns of the list.
const ROWS_FOR_HEADINGS: u16 = 12;
const COLUMNS_FOR_HEADINGS: u16 = 60;

/// The areas of a screen; an area without height is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) title: Rect,
    pub(crate) headings: Rect,
    pub(crate) list: Rect,
    /// The line between the list and the window.
    pub(crate) rule: Rect,
    pub(crate) header: Rect,
    pub(crate) page: Rect,
    pub(crate) footer: Rect,
}

impl Layout {
    pub(crate) fn of(model: &Model) -> Self {
        let screen = Rect::from((Position::ORIGIN, model.size));
        let (rest, footer) = from_bottom(screen, u16::from(screen.height > 1));
        let has_title = rest.height >= ROWS_FOR_TITLE && !model.is_zoomed;
        let (title, rest) = from_top(rest, u16::from(has_title));
        let (headings, rest) = from_top(rest, u16::from(has_headings(model, rest)));
        let (list, rest) = from_top(rest, list_rows(model, rest.height));
        let has_rule = rest.height > 2 && (list.height > 0 || model.is_zoomed);
        let (rule, rest) = from_top(rest, u16::from(has_rule));
        let (header, page) = from_top(rest, u16::from(rest.height > 1));
        Self {
            title,
            headings,
            list,
            rule,
            header,
            page,
            footer,
        }
    }
}

fn has_headings(model: &Model, room: Rect) -> bool {
    let is_large = room.height >= ROWS_FOR_HEADINGS && room.width >= COLUMNS_FOR_HEADINGS;
    is_large && !model.is_zoomed && model.list.listed().len() > 0
}

/// Gives the list the rows it needs, up to a part of the screen, and the rest to the window.
fn list_rows(model: &Model, room: u16) -> u16 {
    let is_alone = model.is_zoomed || (room < ROWS_FOR_BOTH && model.focus == Focus::Window);
    if is_alone {
        return 0;
    }
    if room < ROWS_FOR_BOTH {
        return room;
    }
    let wanted = u16::try_from(model.list.listed().len()).unwrap_or(u16::MAX);
    wanted.clamp(1, (room.saturating_mul(2) / 5).max(1))
}

fn from_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect {
        height: rows,
        ..area
    };
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (top, rest)
}

fn from_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    from_top(area, area.height.saturating_sub(rows))
}
