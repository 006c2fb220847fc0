//! Looks for words in a transcript, also in entries that are closed.

use pi_subagents_windows::Line;

use super::page::{Page, Top};
use super::sheet::{Search, Sheet};

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
        self.find_next(true, page)
    }

    /// Goes to the next place that has the words, or to the one before; after the last one comes the
    /// first. Returns whether there is any.
    pub(crate) fn find_next(&mut self, is_down: bool, page: impl Fn(&Self) -> Page<'_>) -> bool {
        let search = self.search.clone();
        let Some(search) = search.filter(|search| !search.words.is_empty()) else {
            return false;
        };
        let (entry, row) = search.found.unwrap_or_else(|| page(self).top(self.place));
        let found = if is_down {
            // The top row itself counts, but not the row that was found last.
            let first = row + usize::from(search.found.is_some());
            self.find_down(&search.words, (entry, first), &page)
        } else {
            self.find_up(&search.words, (entry, row), &page)
        };
        let Some(found) = found else {
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

    /// Returns the first row with the words at or below a row, and after the end from the beginning.
    fn find_down(
        &mut self,
        words: &str,
        (entry, row): Top,
        page: &impl Fn(&Self) -> Page<'_>,
    ) -> Option<Top> {
        let numbers = self.transcript.numbers();
        let here = self.rows_with(entry, words, page);
        let here = here.into_iter().find(|found| *found >= row);
        if let Some(row) = here {
            return Some((entry, row));
        }
        let below = (entry + 1).clamp(numbers.start, numbers.end)..numbers.end;
        let above = numbers.start..(entry + 1).clamp(numbers.start, numbers.end);
        let mut others = below.chain(above);
        others.find_map(|entry| {
            let rows = self.rows_with(entry, words, page);
            rows.first().map(|row| (entry, *row))
        })
    }

    /// Returns the last row with the words above a row, and after the beginning from the end.
    fn find_up(
        &mut self,
        words: &str,
        (entry, row): Top,
        page: &impl Fn(&Self) -> Page<'_>,
    ) -> Option<Top> {
        let numbers = self.transcript.numbers();
        let here = self.rows_with(entry, words, page);
        let here = here.into_iter().rev().find(|found| *found < row);
        if let Some(row) = here {
            return Some((entry, row));
        }
        let above = numbers.start..entry.clamp(numbers.start, numbers.end);
        let below = entry.clamp(numbers.start, numbers.end)..numbers.end;
        let mut others = above.rev().chain(below.rev());
        others.find_map(|entry| {
            let rows = self.rows_with(entry, words, page);
            rows.last().map(|row| (entry, *row))
        })
    }

    /// Returns the rows of an entry that have the words, as if it were open. Where they are broken
    /// between two rows, the first row stands for them.
    fn rows_with(
        &mut self,
        entry: usize,
        words: &str,
        page: &impl Fn(&Self) -> Page<'_>,
    ) -> Vec<usize> {
        let held = self.transcript.entry(entry);
        if !held.is_some_and(|entry| entry.says(words)) {
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
