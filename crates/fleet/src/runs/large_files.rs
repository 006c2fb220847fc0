//! Large files that git keeps apart, on their way out of a fleet.

use std::fs;
use std::path::Path;

use pi_subagents_files::create_directories;
use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::names::large_file_object;
use pi_subagents_fleet_queue::wire;
use pi_subagents_git::LargeFile;
use tempfile::TempDir;

/// Fetches the large files that a directory of such files lacks.
pub(crate) async fn fetch_large_files(
    fleet: &Fleet,
    files: &[wire::SentLargeFile],
    storage: &Path,
) -> Result<(), String> {
    for named in files {
        let file = LargeFile::checked(&named.oid, named.size)
            .ok_or_else(|| format!("\"{}\" is not an id of an LFS file", named.oid))?;
        let place = file.path_in(storage);
        if place.is_file() {
            continue;
        }
        let failed = |error: std::io::Error| format!("an LFS file cannot be kept: {error}");
        let folder = place.parent().unwrap_or(&place);
        create_directories(folder).map_err(failed)?;
        let scratch = TempDir::new_in(folder).map_err(failed)?;
        let new = scratch.path().join("content");
        let object = large_file_object(&file.oid);
        let got = fleet.blobs().get(&object, &new, file.size).await;
        got.map_err(|error| format!("an LFS file did not come: {error}"))?;
        fs::rename(&new, &place).map_err(failed)?;
    }
    Ok(())
}
