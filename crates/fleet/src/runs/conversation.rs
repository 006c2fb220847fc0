//! The file of a conversation on its way to and from a fleet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{create_directories, try_lock};
use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::names::{key_of_session_object, session_object};
use pi_subagents_fleet_queue::wire::SavedSession;
use pi_subagents_records::{Travelled, install_session, lock_of_session};
use pi_subagents_vocabulary::RunId;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// A longer conversation does not travel.
const LARGEST: u64 = 2_000_000_000;

/// Stores a conversation as a run has left it. Returns none if nothing was said.
pub(crate) async fn save(
    fleet: &Fleet,
    key: &str,
    run: &RunId,
    n: u64,
    file: &Path,
) -> Result<Option<SavedSession>, String> {
    let size = fs::metadata(file).map_or(0, |file| file.len());
    if size == 0 {
        return Ok(None);
    }
    if size > LARGEST {
        return Err(format!(
            "it has {size} bytes, and at most {LARGEST} are sent"
        ));
    }
    let object = session_object(key, run, n);
    let stored = fleet.blobs().put(&object, file).await;
    let size = stored.map_err(|error| error.to_string())?;
    Ok(Some(SavedSession { object, size }))
}

/// Fetches a conversation into a new file in a directory.
pub(crate) async fn fetch(
    fleet: &Fleet,
    saved: &SavedSession,
    directory: &Path,
) -> Result<PathBuf, String> {
    let file = directory.join("session.jsonl");
    let got = fleet.blobs().get(&saved.object, &file, LARGEST).await;
    got.map_err(|error| error.to_string())?;
    Ok(file)
}

/// Brings a conversation into the session file of this machine, and notes which state of it that is.
pub(crate) async fn bring_home(
    fleet: &Fleet,
    saved: &SavedSession,
    session: &Path,
    cwd: &Path,
) -> Result<(), String> {
    // Nobody else reads beside the session, and the directory for temporary files may be too small.
    let folder = session.parent().unwrap_or(session);
    let made = create_directories(folder).and_then(|()| TempDir::new_in(folder));
    let scratch = made.map_err(|error| error.to_string())?;
    let file = fetch(fleet, saved, scratch.path()).await?;
    let note = Travelled {
        key: key_of_session_object(&saved.object)
            .unwrap_or_default()
            .to_owned(),
        object: Some(saved.object.clone()),
    };
    let (session, cwd) = (session.to_owned(), cwd.to_owned());
    let installed = spawn_blocking(move || {
        let lock = lock_of_session(&session);
        if let Some(directory) = lock.parent() {
            create_directories(directory)?;
        }
        let Ok(_held) = try_lock(&lock)? else {
            // The run that writes to it has brought it here, or has it from here.
            return Ok(());
        };
        install_session(&file, &session, &cwd).and_then(|()| note.write(&session))
    });
    match installed.await {
        Ok(done) => done.map_err(|error: io::Error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
