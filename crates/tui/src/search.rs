//! Looks for words in a transcript, also in entries that are closed.

use std::ops::Range;

use pi_subagents_view::Line;

use super::page::{Page, Top};
use super::sheet::{Search, Sheet};

/// The way on which words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Down,
    Up,
}

impl Way {
    /// Returns the entries after one in the direction of the search, and then those before it with
    /// itself.
    fn others(self, entry: usize, numbers: Range<usize>) -> Vec<usize> {
        let entry = entry.clamp(numbers.start, numbers.end);
        let next = (entry + 1).min(numbers.end);
        match self {
            Self::Down => (next..numbers.end).chain(numbers.start..next).collect(),
            Self::Up => {
                let (above, below) = (numbers.start..entry, entry..numbers.end);
                above.rev().chain(below.rev()).collect()
            }
        }
    }
}

impl Sheet {
    /// Begins to look for words from where the reader is.
    pub(crate) fn begin_search(&mut self) {
        self.search = Some(Search {
            words: String::new(),
            from: (self.place, self.open.clone()),
            found: None,
        });
    }

    /// Looks for other words, from where the search began. Returns whether they are there.
    pub(crate) fn search(&mut self, words: &str, page: impl Fn(&Self) -> Page<'_>) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        search.words = words.to_lowercase();
        search.found = None;
        (self.place, self.open) = search.from.clone();
        self.find_next(Way::Down, page)
    }

    /// Goes to the next place with the words, or to the one before; after the last comes the first.
    /// Returns whether there is any.
    pub(crate) fn find_next(&mut self, way: Way, page: impl Fn(&Self) -> Page<'_>) -> bool {
        let search = self.search.clone();
        let Some(search) = search.filter(|search| !search.words.is_empty()) else {
            return false;
        };
        let (entry, row) = search.found.unwrap_or_else(|| page(self).top(self.place));
        // The top row itself counts, but not the row that was found last.
        let row = match way {
            Way::Down => row + usize::from(search.found.is_some()),
            Way::Up => row,
        };
        let Some(found) = self.find(&search.words, (entry, row), way, &page) else {
            return false;
        };
        let closed = page(self).drawn(found.0).len();
        if found.1 >= closed {
            self.open.insert(found.0);
        }
        self.place = page(self).showing(self.place, found);
        self.marked = Some(found.0);
        if let Some(search) = &mut self.search {
            search.found = Some(found);
        }
        true
    }

    /// Goes back to where the search began.
    pub(crate) fn cancel_search(&mut self) {
        if let Some(search) = self.search.take() {
            (self.place, self.open) = search.from;
        }
    }

    /// Returns the next row with the words on the way, the row itself included on the way down. After
    /// the last entry comes the first.
    fn find(
        &mut self,
        words: &str,
        (entry, row): Top,
        way: Way,
        page: &impl Fn(&Self) -> Page<'_>,
    ) -> Option<Top> {
        let mut here = self.rows_with(entry, words, page).into_iter();
        let here = match way {
            Way::Down => here.find(|found| *found >= row),
            Way::Up => here.rfind(|found| *found < row),
        };
        if let Some(row) = here {
            return Some((entry, row));
        }
        let mut others = way.others(entry, self.transcript.numbers()).into_iter();
        others.find_map(|entry| {
            let rows = self.rows_with(entry, words, page);
            let row = match way {
                Way::Down => rows.first(),
                Way::Up => rows.last(),
            };
            row.map(|row| (entry, *row))
        })
    }

    /// Returns the rows of an entry that have the words, as if it were open. If the words are
    /// broken between two rows, the first row counts.
    fn rows_with(
        &mut self,
        entry: usize,
        words: &str,
        page: &impl Fn(&Self) -> Page<'_>,
    ) -> Vec<usize> {
        let held = self.transcript.entry(entry);
        if !held.is_some_and(|entry| entry.contains_words(words)) {
            return Vec::new();
        }
        let was_closed = self.open.insert(entry);
        let drawn = page(self).drawn(entry);
        if was_closed {
            self.open.remove(&entry);
        }
        let has = |line: &Line| line.text().to_lowercase().contains(words);
        let rows = drawn.iter().enumerate().filter(|(_, line)| has(line));
        let mut rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        if rows.is_empty() {
            rows.push(0);
        }
        rows
    }
}
