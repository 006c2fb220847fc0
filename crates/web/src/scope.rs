//! The runs that a page shows: all runs under way, and the finished ones of a project or of all
//! projects.

use std::path::PathBuf;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::{TimeZone, Timestamp};

/// The runs of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    project: Option<PathBuf>,
}

impl Scope {
    /// Makes the scope of a project, or of all of them.
    pub(super) fn of(project: Option<String>) -> Self {
        Self {
            project: project.map(PathBuf::from),
        }
    }

    /// Returns whether the page shows a run.
    pub(super) fn has(&self, run: &IndexedRun) -> bool {
        let is_of_project = |project: &PathBuf| run.is_open() || run.project == *project;
        self.project.as_ref().is_none_or(is_of_project)
    }
}

/// Returns the beginning of today.
pub(super) fn today(zone: &TimeZone) -> Timestamp {
    let now = Timestamp::now().to_zoned(zone.clone());
    let begin = now.start_of_day().map(|day| day.timestamp());
    begin.unwrap_or(Timestamp::UNIX_EPOCH)
}
