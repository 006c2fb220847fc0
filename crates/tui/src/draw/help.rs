//! The help, over everything else.

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role};
use ratatui::layout::Rect;

use super::Canvas;
use crate::keys::help::HelpPage;
use crate::layout::Layout;
use crate::model::Model;

pub(super) fn help(model: &Model, first: usize, layout: Layout, canvas: &mut Canvas<'_, '_>) {
    let screen = canvas.frame.area();
    let area = Rect {
        height: screen.height.saturating_sub(layout.footer.height),
        ..screen
    };
    let page = HelpPage::of(model);
    let first = first.min(page.last_top());
    canvas.clear(screen);
    canvas.lines(&page.lines[first..], area);
    let words = if first < page.last_top() {
        "↓ shows more; any other key closes this help."
    } else {
        "Press any key to close this help."
    };
    let footer = fit(&Line::new(Role::Muted, words), layout.footer.width.into());
    canvas.lines(&[footer], layout.footer);
}
