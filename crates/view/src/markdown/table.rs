//! Tables: columns beside each other if they fit, else one line per cell.

use pi_subagents_vocabulary::text;
use pulldown_cmark::Alignment;

use crate::wrap::wrap;
use crate::{Line, Role};

/// The sign between two columns.
const GAP: &str = " │ ";

/// The width of the narrowest column that is still readable.
const NARROWEST: usize = 6;

/// A table that is being read.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first row is the heading.
    rows: Vec<Vec<Line>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
        }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn push_cell(&mut self, cell: Line) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Draws the table as lines no wider than `columns`.
    pub(super) fn draw(&self, columns: usize) -> Vec<Line> {
        match self.widths(columns) {
            Some(widths) => self.beside_each_other(&widths),
            None => self.below_each_other(columns),
        }
    }

    /// Returns how wide each column is, or `None` if they do not fit beside each other.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let gaps = text::columns(GAP) * count.saturating_sub(1);
        let mut room = columns.checked_sub(gaps)?;
        if room < count * NARROWEST {
            return None;
        }
        let widest = |place: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            cells.map(Line::width).max().unwrap_or(0).max(1)
        };
        let natural: Vec<usize> = (0..count).map(widest).collect();
        let mut by_width: Vec<usize> = (0..count).collect();
        by_width.sort_by_key(|place| natural[*place]);
        let mut widths = vec![0; count];
        // A column that needs less than a fair share leaves the rest to the wider ones.
        for (served, place) in by_width.iter().enumerate() {
            widths[*place] = natural[*place].min(room / (count - served));
            room -= widths[*place];
        }
        Some(widths)
    }

    fn beside_each_other(&self, widths: &[usize]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let is_heading = number == 0;
            lines.extend(self.row(row, widths, is_heading));
            if is_heading {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::new(Role::Muted, &rules.join("─┼─")));
            }
        }
        lines
    }

    fn row(&self, row: &[Line], widths: &[usize], is_heading: bool) -> Vec<Line> {
        let wrapped: Vec<Vec<Line>> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap(&headed(cell, is_heading), *width))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
        (0..height)
            .map(|number| self.row_line(&wrapped, widths, number))
            .collect()
    }

    /// Draws one line of a row whose cells may have several lines.
    fn row_line(&self, cells: &[Vec<Line>], widths: &[usize], number: usize) -> Line {
        let mut line = Line::default();
        let empty = Line::default();
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                line = line.with(Role::Muted, GAP);
            }
            let cell = cell.get(number).unwrap_or(&empty);
            let alignment = self.alignments.get(place).copied();
            let (before, behind) = padding(alignment, widths[place] - cell.width());
            line = line.with(Role::Plain, &" ".repeat(before));
            line.extend(cell.spans().iter().cloned());
            line = line.with(Role::Plain, &" ".repeat(behind));
        }
        line.trimmed()
    }

    fn below_each_other(&self, columns: usize) -> Vec<Line> {
        let Some((heading, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            for (name, cell) in heading.iter().zip(row) {
                let mut line = headed(name, true).with(Role::Muted, ": ");
                line.extend(cell.spans().iter().cloned());
                lines.extend(wrap(&line, columns));
            }
        }
        lines
    }
}

/// Returns the cell of a heading in strong words.
fn headed(cell: &Line, is_heading: bool) -> Line {
    if is_heading {
        return Line::new(Role::Strong, &cell.text());
    }
    cell.clone()
}

/// Splits the space that a cell leaves into the parts before and behind it.
fn padding(alignment: Option<Alignment>, space: usize) -> (usize, usize) {
    match alignment {
        Some(Alignment::Right) => (space, 0),
        Some(Alignment::Center) => (space / 2, space - space / 2),
        Some(Alignment::Left | Alignment::None) | None => (0, space),
    }
}
