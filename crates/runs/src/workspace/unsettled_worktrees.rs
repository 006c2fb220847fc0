//! The worktrees that nobody has looked after yet: one small file for each in the agent directory, so
//! that the next command after a crash finds them without reading every record.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{create_directories, read_own_text, write_whole};
use pi_subagents_vocabulary::RunId;

/// A path is never longer.
const LONGEST: u64 = 16 * 1024;

/// Notes a worktree before it is made. Returns the file that says so.
pub fn note_unsettled(agent_dir: &Path, run: &RunId, directory: &Path) -> io::Result<PathBuf> {
    let folder = folder(agent_dir);
    create_directories(&folder)?;
    let file = folder.join(run.as_str());
    write_whole(&file, directory.as_os_str().as_encoded_bytes())?;
    Ok(file)
}

/// Lists the runs whose worktrees nobody has looked after, with their directories.
pub fn unsettled(agent_dir: &Path) -> Vec<(RunId, PathBuf)> {
    // Without the folder there is none.
    let listed = fs::read_dir(folder(agent_dir))
        .into_iter()
        .flatten()
        .flatten();
    let noted = listed.filter_map(|entry| {
        let run = RunId::parse(entry.file_name().to_str()?).ok()?;
        let directory = read_own_text(&entry.path(), LONGEST).ok()?;
        Some((run, directory.into()))
    });
    noted.collect()
}

/// Forgets a note.
pub(super) fn forget_unsettled(note: Option<&Path>) {
    if let Some(note) = note {
        // A note that stays costs one look at a worktree.
        _ = fs::remove_file(note);
    }
}

fn folder(agent_dir: &Path) -> PathBuf {
    agent_dir.join("subagents-unsettled")
}
