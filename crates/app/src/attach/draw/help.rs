//! The help: every key and what it does, over everything else.

use pi_subagents_windows::paint::fit;
use pi_subagents_windows::{Line, Role, wrap};
use ratatui::layout::Rect;

use super::Canvas;
use crate::attach::keys::KEYS;
use crate::attach::layout::Layout;

/// The first column of the table.
const KEY_COLUMNS: usize = 16;

pub(super) fn help(layout: Layout, canvas: &mut Canvas<'_, '_>) {
    let screen = canvas.frame.area();
    let area = Rect {
        height: screen.height.saturating_sub(layout.footer.height),
        ..screen
    };
    let columns = usize::from(area.width);
    let mut lines = vec![Line::new(Role::Title, "Keys")];
    for (key, does) in KEYS {
        lines.extend(explained(key, does, columns));
    }
    lines.push(Line::default());
    lines.push(Line::new(Role::Muted, "Press any key to close this help."));
    canvas.clear(area);
    canvas.lines(&lines, area);
}

/// Writes an explanation beside its key, or below it where there is no room.
fn explained(key: &str, does: &str, columns: usize) -> Vec<Line> {
    let beside = columns.saturating_sub(KEY_COLUMNS);
    let words = Line::new(Role::Plain, does);
    if beside < 30 {
        let mut lines = vec![fit(&Line::new(Role::Accent, key), columns)];
        lines.extend(wrap(&words, columns));
        return lines;
    }
    let rows = wrap(&words, beside).into_iter().enumerate();
    rows.map(|(number, row)| {
        let key = if number == 0 { key } else { "" };
        let margin = format!("{key:KEY_COLUMNS$}");
        Line::new(Role::Accent, &margin).with(Role::Plain, &row.text())
    })
    .collect()
}
