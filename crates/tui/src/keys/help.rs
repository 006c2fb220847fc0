//! The page of the help: every key and its effect.

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role, wrap};
use ratatui::layout::Size;

use super::table::{KEYS, Where};
use crate::layout::Layout;
use crate::model::{Focus, Model};

/// The first column of the table.
const KEY_COLUMNS: usize = 18;

/// The smallest width beside the keys; with less, explanations come below the keys.
const NARROWEST: usize = 30;

/// The lines of the help, and the rows that the screen has for them.
pub(crate) struct HelpPage {
    pub(crate) lines: Vec<Line>,
    rows: usize,
}

impl HelpPage {
    pub(crate) fn of(model: &Model) -> Self {
        let Size { width, height } = model.size;
        let footer = Layout::of(model).footer.height;
        Self {
            lines: lines(model.focus, width.into()),
            rows: height.saturating_sub(footer).into(),
        }
    }

    /// Returns the line at the top of the screen when the end of the help is reached.
    pub(crate) fn last_top(&self) -> usize {
        self.lines.len().saturating_sub(self.rows)
    }
}

/// Writes the keys of the place where the person is first, and then the keys for every place.
fn lines(focus: Focus, columns: usize) -> Vec<Line> {
    let sections = match focus {
        Focus::List => [
            ("Keys in the list", Where::List),
            ("Keys everywhere", Where::Both),
            ("Keys in the window", Where::Window),
        ],
        Focus::Window => [
            ("Keys in the window", Where::Window),
            ("Keys everywhere", Where::Both),
            ("Keys in the list", Where::List),
        ],
    };
    let mut lines = Vec::new();
    for (heading, place) in sections {
        lines.push(Line::new(Role::Title, heading));
        for key in KEYS.iter().filter(|key| key.place == place) {
            lines.extend(explained(key.keys, key.does, columns));
        }
    }
    lines
}

/// Writes an explanation beside its key, or below it where there is no room.
fn explained(key: &str, does: &str, columns: usize) -> Vec<Line> {
    let beside = columns.saturating_sub(KEY_COLUMNS);
    let words = Line::new(Role::Plain, does);
    if beside < NARROWEST {
        let mut lines = vec![fit(&Line::new(Role::Accent, key), columns)];
        let rows = wrap(&words, columns.saturating_sub(2).max(1)).into_iter();
        lines.extend(rows.map(|row| Line::new(Role::Plain, &format!("  {}", row.text()))));
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
