//! The selected run. A choice of a person is kept by the id of the run, whatever the filter
//! and the order do.

use pi_subagents_vocabulary::RunId;

use super::layout::Layout;
use super::list_row::ListRow;
use super::model::Model;
use super::opened_run::Opened;
use super::scope::Reach;
use super::sort_order::Sorting;

/// The number of rows before the last one from which on older runs are read.
const NEAR_END: usize = 100;

impl Model {
    pub(crate) fn selected_row(&self) -> Option<&ListRow> {
        self.list.row(self.selected.as_ref()?)
    }

    /// Returns the rows on the screen, and the place of the first among all listed rows.
    pub(crate) fn seen_rows(&self) -> (usize, Vec<&ListRow>) {
        let height = usize::from(Layout::of(self).list.height);
        let all = self.list.listed();
        let selected = self.place_of_selected().unwrap_or(0);
        let last_first = all.len().saturating_sub(height);
        let first = selected.saturating_sub(height / 2).min(last_first);
        let places = first..(first + height).min(all.len());
        let seen = places.filter_map(|place| self.list.at(place)).collect();
        (first, seen)
    }

    /// Selects a run because a person wants it.
    pub(super) fn choose(&mut self, run: Option<RunId>) {
        self.chosen.clone_from(&run);
        self.select(run);
    }

    /// Selects the row this number of rows further down, or the last one.
    pub(super) fn choose_by(&mut self, rows: isize) {
        let place = self.place_of_selected().unwrap_or(0);
        let last = self.list.listed().len().saturating_sub(1);
        let place = place.saturating_add_signed(rows).min(last);
        let run = self.list.at(place).map(|row| row.run.run.clone());
        self.choose(run);
    }

    /// Selects the chosen run if it is shown, else the first row.
    pub(super) fn select_again(&mut self) {
        let chosen = self.chosen.as_ref();
        let is_shown = chosen.is_some_and(|run| self.list.place_of(run).is_some());
        let run = if is_shown {
            self.chosen.clone()
        } else {
            self.list.at(0).map(|row| row.run.run.clone())
        };
        self.select(run);
    }

    /// Opens the window of a run below the list.
    pub(super) fn select(&mut self, run: Option<RunId>) {
        self.selected = run;
        let Some(row) = self.selected_row() else {
            self.opened = None;
            return;
        };
        let run = row.run.clone();
        match &mut self.opened {
            Some(opened) if opened.run.run == run.run => opened.run = run,
            _ => {
                self.openings += 1;
                self.opened = Some(Opened::new(self.openings, run, self.context.clone()));
            }
        }
    }

    /// Wants older runs too if those that were read are not enough: near their end, and where a filter or
    /// another order looks at all of them.
    pub(super) fn reach_further(&mut self) {
        if self.list.older() == 0 {
            return;
        }
        let last = self.list.listed().len();
        let is_near_end = |place: usize| place + NEAR_END >= last;
        let is_newest_first = self.list.sorting() == Sorting::default();
        if self.list.goes_to_end || !self.list.filter().is_empty() || !is_newest_first {
            self.reach = Reach::All;
        } else if self.reach == self.list.reach()
            && self.place_of_selected().is_some_and(is_near_end)
        {
            self.reach = self.reach.further();
        }
    }

    fn place_of_selected(&self) -> Option<usize> {
        self.list.place_of(self.selected.as_ref()?)
    }
}
