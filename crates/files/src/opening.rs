//! Opens entries below a directory without following a link on the way.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::refusal::FileRefusal;

/// Opens a relative path below a directory; a link at its end or on the way is refused.
///
/// A pipe is not waited for, and a terminal does not become ours.
pub(crate) fn open_without_links(
    directory: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    check_is_below(path)?;
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    System::open_below(directory, path, flags, mode).map_err(|error| {
        match Errno::from_io_error(&error) {
            Some(Errno::LOOP | Errno::XDEV) => FileRefusal::Link.into(),
            _ => explained(error),
        }
    })
}

/// Names the kind of file as the reason if the system reports a missing device: it does so for a
/// socket, and for a pipe that nobody reads.
pub(crate) fn explained(error: io::Error) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => FileRefusal::NotRegular.into(),
        _ => error,
    }
}

/// Returns whether an error means that there was a link.
pub(crate) fn is_about_a_link(error: &io::Error) -> bool {
    FileRefusal::of(error) == Some(FileRefusal::Link)
}

fn check_is_below(path: &Path) -> io::Result<()> {
    let goes_down = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().all(goes_down) {
        return Ok(());
    }
    Err(FileRefusal::LeadsOut.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_refused_wherever_it_stands() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("inner")).unwrap();
        fs::write(root.path().join("inner/file"), "x").unwrap();
        symlink("inner", root.path().join("way")).unwrap();
        symlink("inner/file", root.path().join("end")).unwrap();
        let directory = File::open(root.path()).unwrap();
        let (flags, mode) = (OFlags::RDONLY | OFlags::NOFOLLOW, Mode::empty());
        for path in ["way/file", "end"] {
            let path = Path::new(path);
            let opened = open_without_links(directory.as_fd(), path, flags, mode);
            assert_eq!(
                FileRefusal::of(&opened.unwrap_err()),
                Some(FileRefusal::Link)
            );
        }
        let path = Path::new("inner/file");
        open_without_links(directory.as_fd(), path, flags, mode).unwrap();
    }

    #[test]
    fn nothing_above_the_directory_is_opened() {
        let root = tempfile::tempdir().unwrap();
        let directory = File::open(root.path()).unwrap();
        for path in ["..", "../x", "a/../../x", "/etc/passwd"] {
            let opened = open_without_links(
                directory.as_fd(),
                Path::new(path),
                OFlags::RDONLY,
                Mode::empty(),
            );
            let refusal = FileRefusal::of(&opened.unwrap_err());
            assert_eq!(refusal, Some(FileRefusal::LeadsOut), "{path}");
        }
    }
}
