//! The runs in scope, and the order of the shown ones.

use std::collections::HashMap;

use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{Counts, RunEvent, RunId, Timestamp};
use unicode_width::UnicodeWidthStr as _;

use super::list_row::{ListRow, Live};
use super::scope::{Reach, ScopedRuns};
use super::sort_order::Sorting;

/// The runs in scope. The shown runs are worked out when something changes, so that a list of ten
/// thousand costs nothing while nothing happens.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunList {
    rows: Vec<ListRow>,
    /// The place of each run in `rows`.
    places: HashMap<RunId, usize>,
    /// The rows that fit the filter, in their order, as places in `rows`.
    listed: Vec<usize>,
    /// In small letters.
    filter: String,
    sorting: Sorting,
    widest_name: usize,
    /// True once the index was read.
    is_loaded: bool,
    /// True if a person has gone to the end of the list, and the oldest runs are still to be read.
    pub(crate) goes_to_end: bool,
    /// The number of finished runs that were not read, in each state.
    older: Counts,
    /// How far back the runs were read.
    reach: Reach,
    /// True if the cost of any run is known.
    has_costs: bool,
    /// The time at which the oldest shown run was accepted.
    oldest: Option<Timestamp>,
}

impl RunList {
    /// Takes the runs of the index. The known facts of a run are kept.
    pub(crate) fn replace(&mut self, read: ScopedRuns, context: &PreviewContext) {
        let ScopedRuns { runs, older, reach } = read;
        (self.older, self.reach) = (older, reach);
        let known = std::mem::take(&mut self.rows).into_iter();
        let mut known: HashMap<RunId, ListRow> =
            known.map(|row| (row.run.run.clone(), row)).collect();
        for run in runs {
            let row = known.remove(&run.run);
            let mut row = row.unwrap_or_else(|| ListRow::new(run.clone()));
            row.run = run;
            if row.run.is_open() && row.live.is_none() {
                row.live = Some(Live::new(&row.run, context.clone()));
            }
            self.rows.push(row);
        }
        let places = self.rows.iter().enumerate();
        self.places = places
            .map(|(place, row)| (row.run.run.clone(), place))
            .collect();
        let widths = self.rows.iter().map(|row| row.run.name.width());
        self.widest_name = widths.max().unwrap_or(0);
        self.is_loaded = true;
        self.relist();
    }

    /// Returns whether the index was read.
    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded
    }

    /// Returns how many finished runs were not read.
    pub(crate) fn older(&self) -> usize {
        self.older.total()
    }

    /// Returns how far back the runs were read.
    pub(crate) fn reach(&self) -> Reach {
        self.reach
    }

    /// Works out again which rows are shown.
    pub(crate) fn relist(&mut self) {
        let rows = &self.rows;
        let is_shown = |place: &usize| self.filter.is_empty() || rows[*place].matches(&self.filter);
        let mut listed: Vec<_> = (0..rows.len())
            .filter(is_shown)
            .map(|place| (rows[place].sort_key(), place))
            .collect();
        listed.sort_by(|(left, _), (right, _)| self.sorting.compare(left, right));
        self.listed = listed.into_iter().map(|(_, place)| place).collect();
        self.has_costs = rows.iter().any(ListRow::has_cost);
        self.oldest = self.listed().map(|row| row.run.accepted_at).min();
    }

    /// Takes more events of a run under way.
    pub(crate) fn apply(&mut self, run: &RunId, events: &[RunEvent]) {
        let Some(row) = self.row_mut(run) else {
            return;
        };
        let before = row.status();
        if let Some(live) = &mut row.live {
            live.apply(events);
        }
        let (has_ended, has_cost) = (row.status() != before, row.has_cost());
        self.has_costs |= has_cost;
        if has_ended {
            self.relist();
        }
    }

    pub(crate) fn filter(&self) -> &str {
        &self.filter
    }

    pub(crate) fn set_filter(&mut self, words: &str) {
        self.filter = words.to_lowercase();
        self.relist();
    }

    pub(crate) fn sorting(&self) -> Sorting {
        self.sorting
    }

    pub(crate) fn set_sorting(&mut self, sorting: Sorting) {
        self.sorting = sorting;
        self.relist();
    }

    /// Returns all rows in scope.
    pub(crate) fn rows(&self) -> &[ListRow] {
        &self.rows
    }

    pub(crate) fn row(&self, run: &RunId) -> Option<&ListRow> {
        self.rows.get(*self.places.get(run)?)
    }

    pub(crate) fn row_mut(&mut self, run: &RunId) -> Option<&mut ListRow> {
        self.rows.get_mut(*self.places.get(run)?)
    }

    /// Returns the rows that are shown, in their order.
    pub(crate) fn listed(&self) -> impl ExactSizeIterator<Item = &ListRow> {
        self.listed.iter().map(|place| &self.rows[*place])
    }

    /// Returns the shown row at this place.
    pub(crate) fn at(&self, place: usize) -> Option<&ListRow> {
        self.rows.get(*self.listed.get(place)?)
    }

    /// Returns the place of a run among the rows that are shown.
    pub(crate) fn place_of(&self, run: &RunId) -> Option<usize> {
        let place = self.places.get(run)?;
        self.listed.iter().position(|listed| listed == place)
    }

    /// Returns whether the cost of any run is known.
    pub(crate) fn has_costs(&self) -> bool {
        self.has_costs
    }

    /// Returns when the oldest run that is shown was taken on.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.oldest
    }

    /// Returns how many columns the longest name takes.
    pub(crate) fn widest_name(&self) -> usize {
        self.widest_name
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = self.older;
        for row in &self.rows {
            counts.add(row.status());
        }
        counts
    }
}
