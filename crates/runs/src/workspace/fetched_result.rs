//! The result of a run that worked on another machine. It came back as commits, and is kept, shown
//! and merged like the result of a worktree.

use std::path::Path;

use pi_subagents_git::{Captured, Pins, Repository, WorkspaceError};
use pi_subagents_records::{RunDir, note_changed_files};
use pi_subagents_vocabulary::RunId;

use super::{Workspace, WorkspaceBase, WorkspaceState};
use crate::submodule_changes::{changed_submodules, submodule_note};

/// The figures of a result that only the machine knows where the run worked.
#[derive(Debug, Clone, Copy, Default)]
pub struct FetchedFigures {
    pub commits: u64,
    pub left_uncommitted: usize,
}

/// Writes down the result of a run that was fetched into the repository of a directory. A run that
/// has left nothing there gets no file.
pub fn keep_fetched(
    directory: &RunDir,
    run: &RunId,
    cwd: &Path,
    figures: FetchedFigures,
) -> Result<(), WorkspaceError> {
    let repository = Repository::find(cwd)?;
    let pins = Pins::read(&repository, run.as_str())?;
    let (Some(base), Some(result)) = (pins.base, pins.result) else {
        return Ok(());
    };
    let submodules = changed_submodules(&repository, run.as_str());
    let notes = submodules
        .iter()
        .map(|path| submodule_note(path, run.as_str()));
    let mut workspace = Workspace {
        base: Some(WorkspaceBase {
            commit: base.to_string(),
            uncommitted: 0,
            is_moved: false,
        }),
        begin: pins.begin.as_ref().map(ToString::to_string),
        notes: notes.collect(),
        ..Workspace::of(&repository, cwd, WorkspaceState::Captured)
    };
    let captured = Captured {
        result,
        commits: figures.commits,
        left_uncommitted: figures.left_uncommitted,
        left: pins.left,
        left_out: Vec::new(),
        is_unchanged: false,
    };
    workspace.take(&repository, &base, &captured, directory.path())?;
    let written = workspace.write(directory.path());
    written.map_err(|source| WorkspaceError::File {
        path: directory.path().to_owned(),
        source,
    })?;
    note_fetched(directory);
    Ok(())
}

/// Notes the files of a fetched result in the record of its run, once that has its end.
pub fn note_fetched(directory: &RunDir) {
    let workspace = Workspace::read(directory.path());
    let fetched = workspace.filter(|workspace| workspace.worktree.is_none());
    if let Some(files) = fetched.and_then(|workspace| workspace.changed_paths()) {
        // Readers of the record look into the file of the result too, so nothing is lost.
        _ = note_changed_files(directory, files);
    }
}
