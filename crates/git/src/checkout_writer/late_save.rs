//! Files into whose old version somebody wrote while a new version took its place: an editor that had
//! opened the file does not notice that. They are kept and named.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, create_directories};

use super::steps::Steps;

/// The folder of such files, beside the folders of merges.
const KEPT: &str = "saves";

/// A file that somebody saved while another version of it took its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateSave {
    /// The file in the checkout.
    pub path: PathBuf,
    /// Where its saved version is.
    pub kept: PathBuf,
}

/// Looks once more at the files that came out of the checkout, old ones after a write and new ones
/// after it was taken back. Those that are neither what was noted nor what was written are moved to a
/// place where they stay.
pub(super) fn keep_late_saves(steps: &Steps<'_>, folder: &Path) -> io::Result<Vec<LateSave>> {
    let mut late = Vec::new();
    for (number, entry) in steps.journal.entries.iter().enumerate() {
        for (name, look) in steps.look_at_slots(number)? {
            let look = Some(look);
            if look == entry.before || look == entry.after {
                continue;
            }
            let place = place_of(folder);
            create_directories(&place)?;
            let kept = free_name(&place, &entry.path)?;
            let directory = Directory::open(&place)?;
            steps.slots.move_to(&name, &directory, Path::new(&kept))?;
            late.push(LateSave {
                path: entry.path.clone(),
                kept: place.join(kept),
            });
        }
    }
    Ok(late)
}

fn place_of(folder: &Path) -> PathBuf {
    let merges = folder.parent().unwrap_or(folder);
    let name = merges.file_name().unwrap_or_default().to_string_lossy();
    merges.with_file_name(format!("{name}-{KEPT}"))
}

/// Returns a name for a file that no other has.
fn free_name(place: &Path, path: &Path) -> io::Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (0..10_000).map(|number| format!("{number}-{name}"));
    let mut free = names.filter(|name| place.join(name).symlink_metadata().is_err());
    free.next()
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}
