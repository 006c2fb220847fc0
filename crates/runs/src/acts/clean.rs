//! Removes the records of runs that nobody needs any more, or says which ones would go.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_records::{IndexedRun, StickyFile, Store};
use pi_subagents_vocabulary::{RunId, Timestamp};

use crate::ask_which::find_failure;
use crate::cleanup::choice::Choice;
use crate::cleanup::plan::Going;
use crate::cleanup::sticky_files::{self, StickyChoice, StickySwept, files_of};
use crate::cleanup::sweep::{self, SweepLimits, Swept};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Runs that somebody wants to be rid of.
pub struct Cleaning<'a> {
    pub places: &'a Places,
    pub store: &'a Store,
    pub choice: Choice,
    pub sessions: SessionFiles,
    pub now: Timestamp,
}

/// The fate of the files of sticky sessions that no remaining run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFiles {
    Stay,
    /// They go with their runs, and files that no run leads to go at this age. If runs were named,
    /// only the files of these runs go.
    Go {
        older: Option<Duration>,
    },
}

/// The runs and files that went or would go, and those that stayed, with the reasons.
#[derive(Debug, Default)]
pub struct CleanReport {
    pub runs: Swept,
    pub sessions: StickySwept,
    /// True if runs were named one by one.
    pub is_named: bool,
}

impl CleanReport {
    /// Returns whether nothing went or would go.
    pub fn is_empty(&self) -> bool {
        self.runs.removed.is_empty() && self.sessions.removed.is_empty()
    }

    /// Returns whether something did not go that should have gone.
    pub fn has_failed(&self) -> bool {
        !self.runs.problems.is_empty()
            || !self.sessions.problems.is_empty()
            || (self.is_named && !self.runs.kept.is_empty())
    }
}

impl Cleaning<'_> {
    /// Finds out what would go, and removes nothing.
    pub fn preview(&self) -> Result<CleanReport, CommandError> {
        let plan = sweep::plan(self.store, self.choice.clone(), self.now)?;
        let sessions = match self.sessions {
            SessionFiles::Stay => Vec::new(),
            SessionFiles::Go { older } => {
                self.chosen_files(files_of(runs(&plan.going)), &plan.going, older)?
            }
        };
        let runs = Swept {
            removed: plan.going,
            kept: plan.kept,
            ..Swept::default()
        };
        let sessions = StickySwept {
            removed: sessions,
            ..StickySwept::default()
        };
        Ok(self.report(runs, sessions))
    }

    /// Removes what may go.
    pub fn clean(&self) -> Result<CleanReport, CommandError> {
        // Their records are gone afterwards, and with them the way to the files of their sessions.
        let of_going = match self.sessions {
            SessionFiles::Stay => None,
            SessionFiles::Go { older } => {
                let plan = sweep::plan(self.store, self.choice.clone(), self.now)?;
                Some((files_of(runs(&plan.going)), older))
            }
        };
        let swept = sweep::sweep(self.store, self.choice.clone(), self.now, SweepLimits::NONE)?;
        let sessions = match of_going {
            Some((of_removed, older)) => {
                sticky_files::sweep(self.chosen_files(of_removed, &[], older)?)
            }
            None => StickySwept::default(),
        };
        Ok(self.report(swept, sessions))
    }

    fn report(&self, runs: Swept, sessions: StickySwept) -> CleanReport {
        CleanReport {
            runs,
            sessions,
            is_named: self.is_named(),
        }
    }

    fn is_named(&self) -> bool {
        matches!(self.choice, Choice::Named(_))
    }

    /// Chooses files of sessions: those of removed runs, and old files that no run leads to.
    /// `going` are runs that are still there and do not count.
    fn chosen_files(
        &self,
        of_removed: HashSet<PathBuf>,
        going: &[Going],
        older: Option<Duration>,
    ) -> Result<Vec<StickyFile>, CommandError> {
        let going: HashSet<&RunId> = going.iter().map(|going| &going.run.run).collect();
        let runs = self.store.runs().map_err(find_failure)?;
        let kept = runs.iter().filter(|run| !going.contains(&run.run));
        let choice = StickyChoice {
            of_removed,
            older: older.filter(|_| !self.is_named()),
        };
        let of_kept = files_of(kept);
        let home = &self.places.home;
        Ok(sticky_files::chosen(home, &choice, &of_kept, self.now))
    }
}

fn runs(going: &[Going]) -> impl Iterator<Item = &IndexedRun> {
    going.iter().map(|going| &going.run)
}
