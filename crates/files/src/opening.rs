//! Opens entries below a directory without following a link on the way.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use crate::refusal::Refusal;

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
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(directory, path, flags, mode, resolve) {
        // An old kernel does not know the call, and some sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => {
            open_step_by_step(directory, path, flags, mode)
        }
        Err(Errno::LOOP | Errno::XDEV) => Err(Refusal::Link.into()),
        other => other.map_err(explained),
    }
}

/// Names the kind of file as the reason if the system reports a missing device: it does so for a
/// socket, and for a pipe that nobody reads.
pub(crate) fn explained(error: Errno) -> io::Error {
    match error {
        Errno::NXIO => Refusal::NotRegular.into(),
        other => other.into(),
    }
}

/// Returns whether an error means that there was a link.
pub(crate) fn is_about_a_link(error: &io::Error) -> bool {
    Refusal::of(error) == Some(Refusal::Link)
}

fn check_is_below(path: &Path) -> io::Result<()> {
    let goes_down = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().all(goes_down) {
        return Ok(());
    }
    Err(Refusal::LeadsOut.into())
}

fn open_step_by_step(
    directory: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let names: Vec<_> = names.collect();
    let Some((last, above)) = names.split_last() else {
        return Ok(openat(directory, ".", flags, mode)?);
    };
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut reached: Option<OwnedFd> = None;
    for name in above {
        let from = reached.as_ref().map_or(directory, AsFd::as_fd);
        let next = openat(from, *name, step, Mode::empty());
        reached = Some(next.map_err(|error| refused(error, from, Path::new(name)))?);
    }
    let from = reached.as_ref().map_or(directory, AsFd::as_fd);
    openat(from, *last, flags, mode).map_err(|error| refused(error, from, Path::new(last)))
}

/// Names a link as the reason of an error. The system has several errors for a link, and some of
/// them have other causes too.
fn refused(error: Errno, from: BorrowedFd<'_>, name: &Path) -> io::Error {
    use rustix::fs::{AtFlags, FileType, statat};
    let is_link = || {
        statat(from, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    };
    match error {
        Errno::LOOP => Refusal::Link.into(),
        Errno::NOTDIR if is_link() => Refusal::Link.into(),
        other => explained(other),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    /// Shows that both ways of opening refuse the same.
    #[test]
    fn a_link_is_refused_wherever_it_stands_also_on_an_old_kernel() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("inner")).unwrap();
        fs::write(root.path().join("inner/file"), "x").unwrap();
        symlink("inner", root.path().join("way")).unwrap();
        symlink("inner/file", root.path().join("end")).unwrap();
        let directory = File::open(root.path()).unwrap();
        let (flags, mode) = (OFlags::RDONLY | OFlags::NOFOLLOW, Mode::empty());
        for path in ["way/file", "end"] {
            let path = Path::new(path);
            let modern = open_without_links(directory.as_fd(), path, flags, mode);
            let old = open_step_by_step(directory.as_fd(), path, flags, mode);
            for opened in [modern, old] {
                assert_eq!(Refusal::of(&opened.unwrap_err()), Some(Refusal::Link));
            }
        }
        let path = Path::new("inner/file");
        open_without_links(directory.as_fd(), path, flags, mode).unwrap();
        open_step_by_step(directory.as_fd(), path, flags, mode).unwrap();
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
            let refusal = Refusal::of(&opened.unwrap_err());
            assert_eq!(refusal, Some(Refusal::LeadsOut), "{path}");
        }
    }
}
