//! The choice of the runs that are on the screen.

use std::path::PathBuf;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{RunId, SessionId};

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

impl ScreenScope {
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
