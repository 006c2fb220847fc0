//! Keeps worktrees from being removed when they are old, or lets them go again.

use std::path::Path;

use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::one_line;

use crate::no_result::NoResult;
use crate::workspace::Workspace;
use pi_subagents_ground::error::CommandError;

/// The fate of a worktree that nobody merges or discards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It stays.
    Stays,
    /// It goes a week after its run.
    GoesWhenOld,
}

/// The worktrees whose fate was noted.
#[derive(Default)]
pub struct KeepReport {
    /// Of each conversation the latest run with a worktree.
    pub kept: Vec<IndexedRun>,
    /// Runs without a worktree.
    pub without: Vec<NoResult>,
}

/// Notes for the worktrees of some conversations whether they stay.
pub fn keep(conversations: &[Vec<IndexedRun>], keeping: Keeping) -> KeepReport {
    let mut report = KeepReport::default();
    for runs in conversations {
        match note(runs, keeping) {
            // Two ids may stand for one conversation.
            Ok(run) => {
                let is_new = |run: &IndexedRun| !report.kept.iter().any(|one| one.run == run.run);
                let run = run.filter(is_new);
                report.kept.extend(run);
            }
            Err(why) => report.without.push(why),
        }
    }
    report
}

impl Keeping {
    /// Says what becomes of the worktree of a run.
    pub fn sentence(self, run: &IndexedRun) -> String {
        let name = one_line(&run.name);
        match self {
            Self::Stays => format!("{name}: its worktree stays until it is merged or discarded"),
            Self::GoesWhenOld => format!("{name}: its worktree goes a week after its run"),
        }
    }
}

/// Notes it for all runs of a conversation whose worktree is there. Returns the latest of them.
fn note(runs: &[IndexedRun], keeping: Keeping) -> Result<Option<IndexedRun>, NoResult> {
    let (mut noted, mut without) = (None, None);
    for run in runs {
        let directory = run.directory.path();
        let mut workspace = Workspace::read(directory);
        // A worktree that was merged or discarded is gone.
        let there = workspace.as_mut();
        match there.filter(|found| found.path().is_some_and(Path::is_dir)) {
            Some(found) => {
                found.is_kept = keeping == Keeping::Stays;
                found.write(directory).map_err(|error| {
                    let why = format!("cannot be noted: {error}");
                    NoResult::new(run, CommandError::failed(why))
                })?;
                noted = Some(run);
            }
            None => without = Some(NoResult::nothing_waits(run, workspace.as_ref(), "keep")),
        }
    }
    match (noted, without) {
        (Some(run), _) => Ok(Some(run.clone())),
        (None, Some(without)) => Err(without),
        (None, None) => Ok(None),
    }
}
