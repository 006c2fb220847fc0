//! One path of a checkout, with its directory held open. No link on the way is followed.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, FileRefusal, is_absent};

use super::look::Look;

/// A place for a file in a checkout.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) directory: Directory,
    pub(super) name: PathBuf,
}

impl Spot {
    /// Opens the directory of a path; `None` if it is not there, or lies behind a link.
    pub(super) fn open(top: &Directory, path: &Path) -> io::Result<Option<Self>> {
        let (above, name) = parts(path)?;
        match top.directory(above) {
            Ok(directory) => Ok(Some(Self { directory, name })),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) if FileRefusal::of(&error) == Some(FileRefusal::Link) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the directory of a path, and makes it if it is not there.
    pub(super) fn make(top: &Directory, path: &Path) -> io::Result<Self> {
        let (above, name) = parts(path)?;
        let mut directory = top.directory(Path::new("."))?;
        for part in above.components() {
            directory = directory.make_ordinary_directory(Path::new(part.as_os_str()))?;
        }
        Ok(Self { directory, name })
    }

    /// Looks at a path.
    pub(super) fn look(top: &Directory, path: &Path) -> io::Result<Option<Look>> {
        match Self::open(top, path)? {
            Some(spot) => Look::at(&spot.directory, &spot.name),
            None => Ok(None),
        }
    }

    /// Removes directories above a path that have become empty, up to the top.
    pub(super) fn prune(top: &Directory, path: &Path) -> io::Result<()> {
        let above = path.ancestors().skip(1);
        for directory in above.take_while(|above| !above.as_os_str().is_empty()) {
            let Some(spot) = Self::open(top, directory)? else {
                continue;
            };
            if !spot.directory.remove_empty(&spot.name)? {
                break;
            }
        }
        Ok(())
    }
}

fn parts(path: &Path) -> io::Result<(&Path, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    Ok((above.unwrap_or(Path::new(".")), name.into()))
}
