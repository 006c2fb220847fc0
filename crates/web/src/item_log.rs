//! The newest items of a run that tabs read, for all of them: each line of the record is decoded
//! once, however many tabs look at it.

use std::collections::VecDeque;
use std::sync::Arc;

use pi_subagents_runs::json_list::JsonList;

use crate::page_item::PageItem;

/// The number of bytes of items that are kept. A tab that reads so slowly reads the record itself.
const MOST_BYTES: usize = 1 << 20;

/// The items of a run from a place on.
#[derive(Debug)]
pub(crate) struct ItemLog {
    /// The place in the record where the log begins.
    begin: u64,
    pieces: VecDeque<ItemPiece>,
    bytes: usize,
}

/// The items of some lines, as JSON.
#[derive(Debug, Clone)]
pub(crate) struct ItemPiece {
    /// The place behind the last line.
    pub(crate) end: u64,
    pub(crate) items: Arc<str>,
}

impl ItemLog {
    /// Begins a log at a place.
    pub(crate) fn at(place: u64) -> Self {
        Self {
            begin: place,
            pieces: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Adds the items of the lines up to a place.
    pub(crate) fn add(&mut self, items: Vec<PageItem>, end: u64) {
        let mut list = JsonList::new();
        list.extend(items);
        let items: Arc<str> = list.finish().into();
        self.bytes += items.len();
        self.pieces.push_back(ItemPiece { end, items });
        while self.bytes > MOST_BYTES && self.pieces.len() > 1 {
            if let Some(oldest) = self.pieces.pop_front() {
                self.bytes -= oldest.items.len();
                self.begin = oldest.end;
            }
        }
    }

    /// Returns the place where the log begins.
    pub(crate) fn begin(&self) -> u64 {
        self.begin
    }

    /// Returns the pieces with lines behind a place. The first may have earlier lines too, which the
    /// page leaves out.
    pub(crate) fn since(&self, place: u64) -> Vec<ItemPiece> {
        let news = self.pieces.iter().filter(|piece| piece.end > place);
        news.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_tab_gets_what_it_has_not_read_and_old_items_are_let_go() {
        let mut log = ItemLog::at(100);
        assert_eq!(log.since(0).len(), 0);
        log.add(vec![PageItem::warning("a", 100)], 150);
        log.add(vec![PageItem::warning("b", 150)], 170);
        let ends = |log: &ItemLog, place| -> Vec<u64> {
            log.since(place).iter().map(|piece| piece.end).collect()
        };
        assert_eq!(ends(&log, 100), [150, 170]);
        assert_eq!(ends(&log, 150), [170]);
        assert_eq!(ends(&log, 120), [150, 170]);
        assert_eq!(ends(&log, 170), [0; 0]);
        let text = "x".repeat(MOST_BYTES);
        log.add(vec![PageItem::warning(&text, 170)], 300);
        assert_eq!((log.begin(), ends(&log, 0)), (170, vec![300]));
    }
}
