//! The choice of the runs that are on the screen.

use std::path::PathBuf;

use pi_subagents_ground::places::Places;
use pi_subagents_records::{FindError, Finder, IndexedRun};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_vocabulary::{Counts, RunId, SessionId};

/// The finished runs that are read first.
const FIRST: usize = 1000;

/// The runs that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenScope {
    /// All runs of this user.
    All,
    /// All runs under way, and the finished ones of this project.
    Project(PathBuf),
    Session(SessionId),
    Run(RunId),
}

/// How far back the finished runs of a project are read. After some years there are very many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// So many of the newest.
    Newest(usize),
    All,
}

impl Default for Reach {
    fn default() -> Self {
        Self::Newest(FIRST)
    }
}

impl Reach {
    /// Returns the reach of somebody who has come to the end of this one.
    pub(crate) fn further(self) -> Self {
        match self {
            Self::Newest(most) => Self::Newest(most.saturating_mul(4)),
            Self::All => Self::All,
        }
    }
}

/// The runs in scope, as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct ScopedRuns {
    pub(crate) runs: Vec<IndexedRun>,
    /// The number of finished runs that were not read, in each state.
    pub(crate) older: Counts,
    pub(crate) reach: Reach,
}

impl ScreenScope {
    /// Reads the runs that are shown.
    pub(crate) fn read(
        &self,
        known: &KnownIndex,
        places: &Places,
        reach: Reach,
    ) -> Result<ScopedRuns, FindError> {
        let all_of = |runs: &[IndexedRun]| ScopedRuns {
            runs: self.choose(runs),
            older: Counts::default(),
            reach: Reach::All,
        };
        Ok(match (self, reach) {
            (Self::Project(project), Reach::Newest(most))
                if *project == places.project && !known.is_small() =>
            {
                let newest = known.newest(places, most)?;
                ScopedRuns {
                    runs: newest.runs,
                    older: newest.older,
                    reach,
                }
            }
            (Self::Session(session), _) => {
                all_of(&known.candidates(Finder::GIVEN, &[session.as_str()])?)
            }
            (Self::Run(run), _) => all_of(&known.candidates(Finder::GIVEN, &[run.as_str()])?),
            (Self::Project(_) | Self::All, _) => all_of(&known.runs()?),
        })
    }

    /// Chooses the runs that are shown.
    pub(crate) fn choose(&self, runs: &[IndexedRun]) -> Vec<IndexedRun> {
        let chosen = runs.iter().filter(|run| match self {
            Self::All => true,
            Self::Project(project) => run.is_open() || run.project == *project,
            Self::Session(session) => run.session == *session,
            Self::Run(id) => run.run == *id,
        });
        chosen.cloned().collect()
    }
}
