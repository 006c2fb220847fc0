//! The directory in which a run of a fleet works on this machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, create_directories};
use pi_subagents_fleet_queue::names::short_name;
use pi_subagents_fleet_queue::wire::{Conversation, Order, SentWorkspace, Shared};
use pi_subagents_vocabulary::RunId;

use super::ground::WORKSPACES;
use super::order_resolution::{NotHere, ordered_directory};

/// More than this is not read of the file that proves that a directory is shared.
const LARGEST_TOKEN: u64 = 4096;

/// The directory of a run. A directory that was made for the run is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Workplace {
    /// The directory in which the child works.
    pub(super) cwd: PathBuf,
    /// The directory above it that was made for the run.
    own: Option<PathBuf>,
}

impl Workplace {
    /// Prepares the directory that an order asks for, or returns the reason why it cannot.
    pub(super) fn prepare(root: &Path, order: &Order, run: &RunId) -> Result<Self, NotHere> {
        let (top, own) = match &order.workspace {
            SentWorkspace::None => {
                let own = own_directory(root, order, run);
                create_directories(&own).map_err(|error| {
                    NotHere::Missing(format!("{} could not be made: {error}", own.display()))
                })?;
                (own.clone(), Some(own))
            }
            SentWorkspace::Shared(shared) => {
                (shared_directory(shared).map_err(NotHere::Missing)?, None)
            }
            // The clone has been made there.
            SentWorkspace::Clone(_) | SentWorkspace::Bundle(_) => {
                let own = own_directory(root, order, run);
                (own.clone(), Some(own))
            }
        };
        let place = Self {
            cwd: ordered_directory(&top, order)?,
            own,
        };
        if place.cwd.is_dir() {
            return Ok(place);
        }
        Err(NotHere::Refused(format!(
            "there is no directory {} in its workspace",
            order.relative_cwd
        )))
    }
}

impl Workplace {
    /// Moves the directory that was made for the run to a place where it stays.
    pub(super) fn move_to(&mut self, place: &Path) -> io::Result<()> {
        if let Some(own) = self.own.take() {
            fs::rename(own, place)?;
        }
        Ok(())
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let Some(own) = &self.own else { return };
        let removed = match (own.parent(), own.file_name()) {
            (Some(above), Some(name)) => {
                Directory::open(above).and_then(|above| above.remove_tree(Path::new(name)))
            }
            (_, _) => Ok(()),
        };
        if let Err(error) = removed {
            tracing::warn!(directory = %own.display(), %error, "workspace cannot be removed");
        }
    }
}

/// Returns the directory that is made for a run and goes with it. All runs of a conversation have the
/// same path, one after the other, because prompts and caches know it.
pub(super) fn own_directory(root: &Path, order: &Order, run: &RunId) -> PathBuf {
    let workspaces = root.join(WORKSPACES);
    match &order.conversation {
        Conversation::Sticky(sticky) => workspaces.join(short_name(&[&sticky.key])),
        Conversation::Fresh => workspaces.join(run.as_str()),
    }
}

/// Returns a directory that both machines see, once its token shows that it is the same directory.
fn shared_directory(shared: &Shared) -> Result<PathBuf, String> {
    let path = Path::new(&shared.path);
    let is_plain = Path::new(&shared.token_file).file_name().is_some()
        && Path::new(&shared.token_file).components().count() == 1;
    if !path.is_absolute() || !is_plain {
        return Err("its workspace is not a directory that can be shared".to_owned());
    }
    let read = || -> io::Result<Vec<u8>> {
        Directory::open(path)?.read(Path::new(&shared.token_file), LARGEST_TOKEN)
    };
    match read() {
        Ok(token) if token == shared.token.as_bytes() => fs::canonicalize(path)
            .map_err(|error| format!("{} cannot be used: {error}", path.display())),
        Ok(_) | Err(_) => Err(format!(
            "this worker does not see the caller's {}: the file {} is missing there or says something else",
            path.display(),
            shared.token_file
        )),
    }
}
