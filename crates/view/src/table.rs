//! Rows under headings, fitted to a terminal: if there is no room for all columns, those that
//! matter least leave first.

use crate::paint::fit;
use crate::{Line, Role};

/// The gap between two columns.
const GAP: usize = 2;

/// One column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The heading above it.
    pub heading: &'static str,
    /// True if its cells are aligned to its right edge, as numbers are.
    pub is_number: bool,
    /// The rank by which columns leave: the column with the highest rank leaves first. Columns of
    /// rank 0 always stay.
    pub rank: u8,
    /// To how many columns of the terminal its cells may be cut; `None` if they are never cut.
    pub least: Option<usize>,
    /// The largest number of terminal columns that it takes, if cells may be cut.
    pub most: usize,
}

impl Column {
    /// Makes a column whose cells are never cut.
    pub const fn whole(heading: &'static str, rank: u8) -> Self {
        Self {
            heading,
            is_number: false,
            rank,
            least: None,
            most: usize::MAX,
        }
    }

    /// Makes a column of numbers.
    pub const fn number(heading: &'static str, rank: u8) -> Self {
        Self {
            is_number: true,
            ..Self::whole(heading, rank)
        }
    }

    /// Makes a column whose cells may be cut.
    pub const fn words(heading: &'static str, rank: u8, least: usize, most: usize) -> Self {
        Self {
            least: Some(least),
            most,
            ..Self::whole(heading, rank)
        }
    }
}

/// A column that is drawn.
struct Drawn {
    place: usize,
    column: Column,
    width: usize,
}

impl Drawn {
    fn least(&self) -> usize {
        self.column
            .least
            .map_or(self.width, |least| least.min(self.width))
    }
}

/// A cell with its width, which takes time to find out.
#[derive(Default)]
struct Cell {
    line: Line,
    width: usize,
}

/// Draws rows under their headings. A column without any content is left out. With `room` the table
/// is fitted to a terminal of this width; without, nothing is cut.
pub fn table(columns: &[Column], rows: Vec<Vec<Line>>, room: Option<usize>) -> Vec<Line> {
    let headings: Vec<Line> = columns
        .iter()
        .map(|column| Line::new(Role::Muted, column.heading))
        .collect();
    let rows: Vec<Vec<Cell>> = std::iter::once(headings)
        .chain(rows)
        .map(|row| row.into_iter().map(Cell::of).collect())
        .collect();
    let mut drawn = with_content(columns, &rows, room.is_some());
    if let Some(room) = room {
        leave_out(&mut drawn, room);
        shrink(&mut drawn, room);
    }
    rows.into_iter().map(|cells| row(&drawn, cells)).collect()
}

/// Returns the columns with something below their headings.
fn with_content(columns: &[Column], rows: &[Vec<Cell>], is_fitted: bool) -> Vec<Drawn> {
    let all = columns.iter().enumerate().filter_map(|(place, column)| {
        let cells = rows.iter().skip(1).filter_map(|row| row.get(place));
        let widest = cells
            .map(|cell| cell.width)
            .max()
            .filter(|width| *width > 0)?;
        let most = if is_fitted { column.most } else { usize::MAX };
        let width = widest.min(most).max(column.heading.len());
        Some(Drawn {
            place,
            column: *column,
            width,
        })
    });
    all.collect()
}

/// Leaves out columns until the others fit, each as narrow as it may be.
fn leave_out(drawn: &mut Vec<Drawn>, room: usize) {
    while total(drawn.iter().map(Drawn::least)) > room {
        let least_important = drawn
            .iter()
            .enumerate()
            .max_by_key(|(_, one)| one.column.rank);
        match least_important {
            Some((place, one)) if one.column.rank > 0 => drop(drawn.remove(place)),
            Some(_) | None => return,
        }
    }
}

/// Makes columns narrower until all fit, the least important column first.
fn shrink(drawn: &mut [Drawn], room: usize) {
    let mut excess = total(drawn.iter().map(|one| one.width)).saturating_sub(room);
    let mut by_rank: Vec<&mut Drawn> = drawn.iter_mut().collect();
    by_rank.sort_by_key(|one| std::cmp::Reverse(one.column.rank));
    for one in by_rank {
        let given = excess.min(one.width - one.least());
        one.width -= given;
        excess -= given;
    }
}

fn total(widths: impl ExactSizeIterator<Item = usize>) -> usize {
    let gaps = widths.len().saturating_sub(1) * GAP;
    widths.sum::<usize>() + gaps
}

/// Draws a row out of its cells. Their spans are moved, because a list may have ten thousand rows.
fn row(drawn: &[Drawn], mut cells: Vec<Cell>) -> Line {
    let mut line = Line::with_room(2 * drawn.len() + 2);
    // Spaces are added only once there is text behind them.
    let mut spaces = 0;
    for one in drawn {
        let cell = cells.get_mut(one.place).filter(|cell| cell.width > 0);
        let Some(cell) = cell else {
            spaces += one.width + GAP;
            continue;
        };
        let cell = if cell.width > one.width {
            Cell::of(fit(&cell.line, one.width))
        } else {
            std::mem::take(cell)
        };
        let rest = one.width.saturating_sub(cell.width);
        let (before, behind) = if one.column.is_number {
            (rest, 0)
        } else {
            (0, rest)
        };
        line = line.with(Role::Plain, &" ".repeat(spaces + before));
        line.append(cell.line);
        spaces = behind + GAP;
    }
    line
}

impl Cell {
    fn of(line: Line) -> Self {
        Self {
            width: line.width(),
            line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 5] = [
        Column::words("NAME", 0, 6, 12),
        Column::number("COST", 1),
        Column::whole("ID", 0),
        Column::whole("NOTE", 9),
        Column::words("TASK", 2, 8, usize::MAX),
    ];

    fn rows() -> Vec<Vec<Line>> {
        [
            ["scout", "$0.02", "9c9fa4e1", "", "Look at the lamp"],
            ["日本語の調査と報告", "", "ab", "", "Read"],
        ]
        .map(|cells| cells.map(|cell| Line::new(Role::Plain, cell)).to_vec())
        .to_vec()
    }

    fn drawn(room: Option<usize>) -> String {
        let lines = table(&COLUMNS, rows(), room);
        let lines: Vec<String> = lines.iter().map(Line::text).collect();
        format!("\n{}\n", lines.join("\n"))
    }

    #[test]
    fn without_a_limit_nothing_is_cut() {
        assert_eq!(
            drawn(None),
            "
NAME                 COST  ID        TASK
scout               $0.02  9c9fa4e1  Look at the lamp
日本語の調査と報告         ab        Read
"
        );
    }

    #[test]
    fn a_narrow_terminal_sees_what_matters() {
        assert_eq!(
            drawn(Some(47)),
            "
NAME           COST  ID        TASK
scout         $0.02  9c9fa4e1  Look at the lamp
日本語の...          ab        Read
"
        );
        assert_eq!(
            drawn(Some(36)),
            "
NAME        COST  ID        TASK
scout      $0.02  9c9fa4e1  Look ...
日本語...         ab        Read
"
        );
        assert_eq!(
            drawn(Some(24)),
            "
NAME      COST  ID
scout    $0.02  9c9fa4e1
日本...         ab
"
        );
        // Ids are never cut, however narrow the terminal is.
        assert_eq!(
            drawn(Some(10)),
            "
NAME    ID
scout   9c9fa4e1
日...   ab
"
        );
    }
}
