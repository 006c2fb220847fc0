//! A transcript read like a page: from its first row to its last.
//!
//! Only the visible entries are ever drawn, so a page of any length costs one screen.

use pi_subagents_view::ScreenSize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use pi_subagents_view::{Line, PreviewContext, Role, wrap};
use pi_subagents_vocabulary::text;

use super::sheet::Sheet;
use super::transcript::{Entry, can_open, rows_of};

/// The place in a page that its reader looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Place {
    /// At the end, wherever that moves.
    #[default]
    End,
    /// With this row of this entry at the top.
    At(Top),
}

/// A row: the number of its entry, and its place in the entry.
pub(crate) type Top = (usize, usize);

impl Place {
    /// The beginning of a page.
    pub(crate) const BEGINNING: Self = Self::At((0, 0));
}

/// A row that is seen, and the entry it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageRow {
    pub(crate) entry: usize,
    pub(crate) line: Line,
}

/// A sheet in a number of columns and rows, with the lines below its entries.
pub(crate) struct Page<'a> {
    sheet: &'a Sheet,
    tail: Vec<Line>,
    context: PreviewContext,
    columns: usize,
    height: usize,
    /// The rows of the entries that were drawn.
    drawn: RefCell<HashMap<usize, Rc<[Line]>>>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(
        sheet: &'a Sheet,
        tail: Vec<Line>,
        context: PreviewContext,
        size: ScreenSize,
    ) -> Self {
        Self {
            sheet,
            tail,
            context,
            columns: size.columns,
            height: size.rows,
            drawn: RefCell::default(),
        }
    }

    /// Returns the rows that are seen from a place.
    pub(crate) fn rows(&self, place: Place) -> Vec<PageRow> {
        let (first, skipped) = self.top(place);
        let rows = (first..self.end()).flat_map(|entry| {
            let rows = self.drawn(entry);
            let lines: Vec<Line> = rows.to_vec();
            lines.into_iter().map(move |line| PageRow { entry, line })
        });
        rows.skip(skipped).take(self.height).collect()
    }

    /// Returns the place this number of rows further down.
    pub(crate) fn down(&self, place: Place, rows: usize) -> Place {
        let Place::At(_) = place else {
            return Place::End;
        };
        let (mut entry, row) = self.top(place);
        let mut row = row + rows;
        while entry < self.end() {
            let has = self.drawn(entry).len();
            if row < has {
                break;
            }
            row -= has;
            entry += 1;
        }
        self.at((entry, row))
    }

    /// Returns the place this number of rows further up.
    pub(crate) fn up(&self, place: Place, rows: usize) -> Place {
        let (entry, row) = self.back(self.top(place), rows);
        Place::At((entry, row))
    }

    /// Returns the place with this row at the top, or the end where the screen would not be filled.
    pub(crate) fn at(&self, top: Top) -> Place {
        if top < self.top(Place::End) {
            Place::At(top)
        } else {
            Place::End
        }
    }

    /// Returns the place that shows this row and is nearest to another place.
    pub(crate) fn showing(&self, place: Place, row: Top) -> Place {
        let first = self.top(place);
        let last = self.down_from(first, self.height.saturating_sub(1));
        if row < first {
            // Some rows before it are visible too.
            return self.at(self.back(row, self.height / 4));
        }
        if row > last {
            return self.at(self.back(row, self.height * 3 / 4));
        }
        place
    }

    /// Returns the part of the page above the visible rows, in percent; `None` at the end of the
    /// page, and if all of it is visible.
    pub(crate) fn percent(&self, place: Place) -> Option<usize> {
        match place {
            Place::End => None,
            Place::At(_) if self.top(Place::End) == (self.begin(), 0) => None,
            Place::At(_) => {
                let (entry, row) = self.top(place);
                let all = (self.end() - self.begin()).max(1);
                let part = row * 100 / self.drawn(entry).len().max(1);
                Some(((entry - self.begin()) * 100 + part) / all)
            }
        }
    }

    /// Returns the top row of a place. It is never so far down that the screen would not be filled.
    pub(crate) fn top(&self, place: Place) -> Top {
        let end = self.back((self.end(), 0), self.height);
        match place {
            Place::End => end,
            Place::At((entry, row)) => {
                let last = self.end().saturating_sub(1);
                let entry = entry.clamp(self.begin(), last.max(self.begin()));
                let last = self.drawn(entry).len().saturating_sub(1);
                end.min((entry, row.min(last)))
            }
        }
    }

    /// Returns the row this number of rows before another one.
    pub(crate) fn back(&self, (mut entry, mut row): Top, rows: usize) -> Top {
        let mut left = rows;
        while left > row && entry > self.begin() {
            left -= row;
            entry -= 1;
            row = self.drawn(entry).len();
        }
        (entry, row.saturating_sub(left))
    }

    fn down_from(&self, (mut entry, row): Top, rows: usize) -> Top {
        let mut row = row + rows;
        while entry < self.end() {
            let has = self.drawn(entry).len();
            if row < has {
                return (entry, row);
            }
            row -= has;
            entry += 1;
        }
        (entry, 0)
    }

    /// Returns the entry that Enter opens or closes: the marked one if it is visible, else the last
    /// visible one at the end of the page, and the first visible one anywhere else.
    pub(crate) fn marked(&self, place: Place) -> Option<usize> {
        let mut seen: Vec<usize> = self.rows(place).iter().map(|row| row.entry).collect();
        seen.dedup();
        seen.retain(|entry| self.can_open(*entry));
        let marked = self.sheet.marked.filter(|entry| seen.contains(entry));
        marked.or_else(|| match place {
            Place::End => seen.last().copied(),
            Place::At(_) => seen.first().copied(),
        })
    }

    /// Returns the next entry below or above another one that can be opened.
    pub(crate) fn next_to_open(&self, from: Option<usize>, is_down: bool) -> Option<usize> {
        let numbers = self.sheet.transcript.numbers();
        let can_open = |entry: &usize| self.can_open(*entry);
        match (from, is_down) {
            (Some(from), true) => (from + 1..numbers.end).find(can_open),
            (Some(from), false) => (numbers.start..from).rev().find(can_open),
            (None, true) => numbers.into_iter().find(can_open),
            (None, false) => numbers.rev().find(can_open),
        }
    }

    pub(crate) fn can_open(&self, entry: usize) -> bool {
        self.sheet.transcript.entry(entry).is_some_and(can_open)
    }

    fn begin(&self) -> usize {
        self.sheet.transcript.numbers().start
    }

    /// Returns the number after the last entry; the lines of the tail count as entries.
    fn end(&self) -> usize {
        self.sheet.transcript.numbers().end + self.tail.len()
    }

    /// Draws an entry once.
    pub(crate) fn drawn(&self, entry: usize) -> Rc<[Line]> {
        if let Some(rows) = self.drawn.borrow().get(&entry) {
            return Rc::clone(rows);
        }
        let rows: Rc<[Line]> = self.draw(entry).into();
        self.drawn.borrow_mut().insert(entry, Rc::clone(&rows));
        rows
    }

    fn draw(&self, number: usize) -> Vec<Line> {
        let transcript = &self.sheet.transcript;
        let Some(entry) = transcript.entry(number) else {
            let place = number - transcript.numbers().end.min(number);
            let line = self.tail.get(place);
            return line.map_or_else(Vec::new, |line| wrap(line, self.columns));
        };
        let mut rows = self.above(number, entry);
        let is_open = self.sheet.open.contains(&number);
        rows.extend(rows_of(entry, is_open, self.columns, &self.context));
        rows
    }

    /// Returns the rows above an entry: the note about dropped entries, and a blank row before the
    /// model's text.
    fn above(&self, number: usize, entry: &Entry) -> Vec<Line> {
        let transcript = &self.sheet.transcript;
        if number > transcript.numbers().start {
            let is_speech = matches!(entry, Entry::Speech(_));
            return Vec::from_iter(is_speech.then(Line::default));
        }
        let dropped = transcript.dropped();
        if dropped == 0 {
            return Vec::new();
        }
        let steps = text::count(dropped, "earlier step");
        let words = format!("… {steps} left out here; pi-subagents session shows all");
        wrap(&Line::new(Role::Muted, &words), self.columns)
    }
}
