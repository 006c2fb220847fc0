//! A project that workers clone for themselves: only its address and a commit travel.

use std::path::Path;

use pi_subagents_fleet_queue::wire::{Cloned, SentWorkspace};
use pi_subagents_git::{ObjectId, Repository, Snapshot};
use pi_subagents_vocabulary::text::count;

use super::package::{no_repository, not_packed, on_thread};
use super::sent_files::SentFiles;
use pi_subagents_ground::error::CommandError;

/// A project that can be cloned elsewhere.
pub(super) struct Published {
    repository: Repository,
    pub(super) url: String,
    pub(super) commit: ObjectId,
    /// The number of uncommitted files that stay here.
    uncommitted: usize,
}

impl Published {
    /// Looks at the project that a directory is in. Its commit must be at its origin, as far as this
    /// machine knows.
    pub(super) async fn look(cwd: &Path) -> Result<Self, CommandError> {
        let directory = cwd.to_owned();
        on_thread(move || {
            let repository = Repository::find(&directory).map_err(|error| no_repository(&error))?;
            let packed = |error| not_packed(&error);
            let commit = repository.demand_head().map_err(packed)?;
            let url = repository.origin().map_err(packed)?.ok_or_else(|| {
                CommandError::usage(format!(
                    "{} has no remote \"origin\" that a worker could clone",
                    repository.top().display()
                ))
                .hint("Use --workspace bundle, which needs no remote.")
            })?;
            if !repository.is_published(&commit).map_err(packed)? {
                return Err(CommandError::usage(format!(
                    "the commit {commit} is on no branch of {url}, as far as this machine knows"
                ))
                .hint("Push it first, or use --workspace bundle."));
            }
            let uncommitted = Snapshot::take(&repository)
                .map_err(packed)?
                .uncommitted
                .len();
            Ok(Self {
                repository,
                url,
                commit,
                uncommitted,
            })
        })
        .await
    }

    /// Says what stays here.
    pub(super) fn left_out(&self) -> Option<String> {
        (self.uncommitted > 0).then(|| count(self.uncommitted, "uncommitted file"))
    }

    /// Returns it as the files of a call.
    pub(super) fn sent(self) -> SentFiles {
        let left_out = self.left_out();
        let warnings = left_out.map(|files| format!("not sent to the fleet: {files}"));
        let workspace = SentWorkspace::Clone(Cloned {
            url: self.url,
            commit: self.commit.to_string(),
        });
        let warnings = warnings.into_iter().collect();
        SentFiles::of_repository(self.repository, workspace, Vec::new(), warnings)
    }
}
