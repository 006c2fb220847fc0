//! Shows what a run has changed, wherever it worked.

use std::path::PathBuf;

use pi_subagents_git::{FileChange, changes};
use pi_subagents_records::IndexedRun;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::receipt::FileSource;
use pi_subagents_vocabulary::{Advice, Door, RunId};
use schemars::JsonSchema;
use serde::Serialize;

use super::merge::WantedChanges;
use super::shared_diff::{SharedChanges, SharedDiff};
use crate::results::{RunResult, failed};
use crate::submodule_changes::{changed_submodules, submodule_note};
use crate::workspace::WorkspaceFile;
use pi_subagents_ground::error::CommandError;

/// The changes of a run.
pub enum RunDiff {
    /// Git has them, from a worktree or from a fleet.
    Kept(Box<KeptDiff>),
    /// It worked in a shared checkout, and these are its own successful edits and writes.
    Shared(SharedDiff),
}

/// Changes that git has.
pub struct KeptDiff {
    pub result: RunResult,
    pub files: Vec<FileChange>,
    /// Earlier runs of the conversation that have a result of their own, which waits.
    earlier: Vec<RunId>,
    /// The submodules with changes of their own.
    submodules: Vec<PathBuf>,
}

/// Finds the changes of the latest of some runs that has any.
pub fn diff(wanted: &WantedChanges<'_>, runs: &[IndexedRun]) -> Result<RunDiff, CommandError> {
    if let Some(shared) = SharedDiff::of_latest(runs)? {
        return Ok(RunDiff::Shared(shared));
    }
    let mut asked = wanted.of_one(&mut wanted.results(), runs)?;
    let latest = asked.pop();
    let latest = latest.ok_or_else(|| CommandError::not_found("there is no such run"))?;
    let result = latest?;
    let change = &result.change;
    let files = changes(&result.repository, &change.base, &change.result)
        .map_err(|error| failed(&error))?;
    let earlier = asked.into_iter().flatten().map(|one| one.run.run);
    Ok(RunDiff::Kept(Box::new(KeptDiff {
        earlier: earlier.collect(),
        submodules: changed_submodules(&result.repository, result.run.run.as_str()),
        files,
        result,
    })))
}

impl RunDiff {
    /// Describes the changes for programs. Fails if there are none that somebody could see.
    pub fn printed(&self) -> Result<PrintedDiff<'_>, CommandError> {
        Ok(match self {
            Self::Kept(kept) => PrintedDiff::Kept(kept.printed()),
            Self::Shared(shared) => PrintedDiff::Shared(shared.printed()?),
        })
    }

    /// Returns the patch in colours, as somebody reads it.
    pub fn lines(&self) -> Result<Vec<Line>, CommandError> {
        match self {
            Self::Kept(kept) => kept.result.patch_lines(),
            Self::Shared(shared) => shared.lines(),
        }
    }

    /// Returns what somebody who reads the patch should know beside it.
    pub fn notes(&self, door: Door) -> Vec<String> {
        match self {
            Self::Kept(kept) => kept.notes(door),
            Self::Shared(shared) => shared.notes(),
        }
    }

    /// Returns the patch and the notes behind it.
    pub fn page(&self, door: Door) -> Result<Vec<Line>, CommandError> {
        let mut lines = self.lines()?;
        let notes = self.notes(door);
        if !notes.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(notes.iter().map(|note| Line::new(Role::Warning, note)));
        Ok(lines)
    }
}

/// The JSON of `diff`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PrintedDiff<'a> {
    Kept(KeptChanges<'a>),
    Shared(SharedChanges<'a>),
}

/// The changes of a run with a worktree of its own, as git knows them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptChanges<'a> {
    run_id: &'a RunId,
    source: FileSource,
    /// The commit that the run began from.
    base: &'a str,
    /// The commit that holds what it left.
    result: &'a str,
    /// True if the changes were merged.
    merged: bool,
    files: Vec<WorkspaceFile>,
    /// The submodules with changes of their own.
    submodules: &'a [PathBuf],
}

impl KeptDiff {
    fn printed(&self) -> KeptChanges<'_> {
        KeptChanges {
            run_id: &self.result.run.run,
            source: FileSource::Worktree,
            base: self.result.change.base.as_str(),
            result: self.result.change.result.as_str(),
            merged: self.result.is_merged,
            files: self.files.iter().map(WorkspaceFile::of).collect(),
            submodules: &self.submodules,
        }
    }

    fn notes(&self, door: Door) -> Vec<String> {
        let earlier = self.earlier.iter().map(|run| {
            let how = Advice::Diff(run.to_string()).words(door);
            format!("! an earlier run of this session has its own result, which waits: {how}")
        });
        let submodules = self.submodules.iter().map(|path| {
            let note = submodule_note(path, self.result.run.run.as_str());
            format!("! {note}")
        });
        earlier.chain(submodules).collect()
    }
}
