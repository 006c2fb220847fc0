//! Questions to the model: the records to read and to follow, and the time at which the view
//! closes. The asker has no state of its own to keep in step with the model.

use std::collections::HashMap;
use std::time::Duration;

use pi_subagents_engine::Extent;
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::{RunId, Timestamp};

use super::list_row::{ListRow, Record};
use super::message::Subject;
use super::model::{Leaving, Model};
use super::scope::Reach;

/// The time for which a view that leaves by itself stays when its runs are over.
const STAYS: Duration = Duration::from_secs(3);

/// The number of records off the screen that are read at a time.
const AT_A_TIME: usize = 250;

impl Model {
    /// Returns the records that are to be followed.
    pub(crate) fn followed(&self) -> HashMap<Subject, RunDir> {
        // The index may know of an end before the last events were read.
        let unfinished = self.list.rows().iter().filter(|row| row.is_unfinished());
        let rows = unfinished.map(|row| (Subject::Row(row.run.run.clone()), &row.run.directory));
        let opened = self.opened.iter();
        let window = opened.map(|opened| {
            let subject = Subject::Window(opened.run.run.clone(), opened.number);
            (subject, &opened.run.directory)
        });
        rows.chain(window)
            .map(|(subject, directory)| (subject, directory.clone()))
            .collect()
    }

    /// Returns the runs whose models are followed while they write: for the open window the whole
    /// message, for the other rows on the screen just its newest words.
    pub(crate) fn partially_read(&self) -> HashMap<(RunId, Extent), IndexedRun> {
        let opened = self.opened.iter().filter(|opened| {
            let is_over = opened.window.status().is_over();
            opened.run.is_open() && !is_over
        });
        let opened = opened.map(|opened| (&opened.run, Extent::Whole));
        let (_, seen) = self.seen_rows();
        let rows = seen
            .into_iter()
            .filter(|row| row.is_running() && self.selected.as_ref() != Some(&row.run.run))
            .map(|row| (&row.run, Extent::Newest));
        opened
            .chain(rows)
            .map(|(run, extent)| ((run.run.clone(), extent), run.clone()))
            .collect()
    }

    /// Returns the finished runs whose records are to be read next: those on the screen, and some
    /// others if a filter needs all of them.
    pub(crate) fn unread(&self) -> Vec<IndexedRun> {
        let (_, seen) = self.seen_rows();
        let seen: Vec<&ListRow> = seen.into_iter().filter(|row| row.is_unread()).collect();
        if !seen.is_empty() || !self.reads_all() {
            return seen.into_iter().map(|row| row.run.clone()).collect();
        }
        let unread = self.list.rows().iter().rev().filter(|row| row.is_unread());
        unread.take(AT_A_TIME).map(|row| row.run.clone()).collect()
    }

    /// Returns whether older runs are still to be read that the list needs.
    pub(crate) fn reads_older(&self) -> bool {
        self.list.older() > 0 && self.reach == Reach::All
    }

    /// Returns whether the list depends on all records: a filter looks at their tasks and models.
    /// The costs of runs are in the index.
    pub(crate) fn reads_all(&self) -> bool {
        !self.list.filter().is_empty()
    }

    /// Returns when the view closes by itself.
    pub(crate) fn leaves_at(&self) -> Option<Timestamp> {
        match self.leaving {
            Leaving::WhenOver(Some(since)) => since.checked_add(STAYS).ok(),
            Leaving::WhenOver(None) | Leaving::WhenTold => None,
        }
    }

    pub(super) fn leaves_now(&mut self, now: Timestamp) -> bool {
        let Leaving::WhenOver(since) = &mut self.leaving else {
            return false;
        };
        let is_over = |row: &ListRow| row.status().is_over() || row.record == Record::Gone;
        if !self.list.is_loaded() || !self.list.rows().iter().all(is_over) {
            *since = None;
            return false;
        }
        since.get_or_insert(now);
        self.leaves_at().is_some_and(|at| now >= at)
    }
}
