//! A transcript that somebody reads: their place, the open entries, their search.

use std::collections::BTreeSet;

use super::page::{Page, Place, Top};
use super::transcript::Transcript;

/// A transcript that somebody reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet {
    pub(crate) transcript: Transcript,
    pub(crate) place: Place,
    /// The entries that are open.
    pub(crate) open: BTreeSet<usize>,
    /// The entry that Enter opens, as long as it is seen.
    pub(crate) marked: Option<usize>,
    pub(crate) search: Option<Search>,
}

/// A search of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    /// In small letters.
    pub(crate) words: String,
    /// The place of the reader when the search began.
    pub(crate) from: (Place, BTreeSet<usize>),
    /// The row that was found last.
    pub(crate) found: Option<Top>,
}

/// An action of the reader of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Scroll this number of rows down, or up.
    Scroll(isize),
    /// Go somewhere.
    Put(Place),
    /// Stay at the end, or hold still.
    Follow,
    /// Go to the next entry that can be opened, or to the one before.
    Mark { is_down: bool },
    /// Open or close this entry, or the marked one.
    Toggle(Option<usize>),
    /// Open or close all entries.
    ToggleAll,
}

impl Sheet {
    /// Fulfils a wish of a reader; `page` makes a page of the sheet as it is.
    pub(crate) fn read(&mut self, reading: &Reading, page: impl Fn(&Self) -> Page<'_>) {
        match reading {
            Reading::Scroll(rows) => {
                let page = page(self);
                self.place = if *rows < 0 {
                    page.up(self.place, rows.unsigned_abs())
                } else {
                    page.down(self.place, rows.unsigned_abs())
                };
            }
            Reading::Put(place) => self.place = *place,
            Reading::Follow => match self.place {
                Place::End => self.place = page(self).up(Place::End, 1),
                Place::At(_) => self.place = Place::End,
            },
            Reading::Mark { is_down } => self.mark_next(*is_down, page),
            Reading::Toggle(entry) => {
                let entry = entry.or_else(|| page(self).marked(self.place));
                if let Some(entry) = entry {
                    self.toggle(entry, page);
                }
            }
            Reading::ToggleAll => self.toggle_all(page),
        }
    }

    fn mark_next(&mut self, is_down: bool, page: impl Fn(&Self) -> Page<'_>) {
        let drawn = page(self);
        let from = drawn.marked(self.place);
        let next = match (self.marked, from) {
            // The first press marks the entry that Enter would open.
            (None, Some(shown)) => Some(shown),
            (_, from) => drawn.next_to_open(from, is_down).or(from),
        };
        if let Some(entry) = next {
            let place = drawn.showing(self.place, (entry, 0));
            self.place = place;
            self.marked = next;
        }
    }

    /// Opens or closes an entry, which stays where it is on the screen.
    fn toggle(&mut self, entry: usize, page: impl Fn(&Self) -> Page<'_>) {
        let rows = page(self).rows(self.place);
        let above = rows.iter().take_while(|row| row.entry < entry).count();
        if !self.open.remove(&entry) {
            self.open.insert(entry);
        }
        self.marked = Some(entry);
        let drawn = page(self);
        self.place = drawn.at(drawn.back((entry, 0), above));
    }

    fn toggle_all(&mut self, page: impl Fn(&Self) -> Page<'_>) {
        let drawn = page(self);
        let (entry, _) = drawn.top(self.place);
        let (place, marked) = (self.place, drawn.marked(self.place));
        let mut next = drawn.next_to_open(None, true);
        let mut all = BTreeSet::new();
        while let Some(entry) = next {
            all.insert(entry);
            next = drawn.next_to_open(next, true);
        }
        self.marked = marked;
        self.open = if all.is_subset(&self.open) {
            BTreeSet::new()
        } else {
            all
        };
        if let Place::At(_) = place {
            self.place = page(self).at((entry, 0));
        }
    }
}
