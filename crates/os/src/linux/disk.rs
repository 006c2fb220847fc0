//! Files.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, FallocateFlags, FileType, Mode, OFlags, PROC_SUPER_MAGIC, RenameFlags, ResolveFlags,
    fallocate, fstatfs, fsync, major, minor, openat, openat2, renameat_with, statat, syncfs,
};
use rustix::io::Errno;

use crate::{Disk, System};

/// The file systems beside procfs whose regular files are made up by the kernel: sysfs, debugfs,
/// tracefs, securityfs and the two kinds of cgroups.
const MADE_UP: [u64; 6] = [
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
];

impl Disk for System {
    fn open_below(
        directory: BorrowedFd<'_>,
        path: &Path,
        flags: OFlags,
        mode: Mode,
    ) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(directory, path, flags, mode, resolve) {
            // An old kernel does not know the call, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL) => {
                Ok(open_step_by_step(directory, path, flags, mode)?)
            }
            other => Ok(other?),
        }
    }

    /// The kernel gives it in one call, where looking for links takes one for each part of the path.
    fn real_path(directory: BorrowedFd<'_>) -> Option<PathBuf> {
        let path = fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()?;
        let is_there = path.is_absolute() && !path.as_os_str().as_bytes().ends_with(b" (deleted)");
        is_there.then_some(path)
    }

    /// The system calls `/proc/self/environ` a regular file too, so the file system is asked.
    fn is_made_up(file: BorrowedFd<'_>) -> io::Result<bool> {
        let system = fstatfs(file)?.f_type;
        Ok(system == PROC_SUPER_MAGIC
            || u64::try_from(system).is_ok_and(|system| MADE_UP.contains(&system)))
    }

    fn rename_to_free(
        directory: BorrowedFd<'_>,
        from: &Path,
        other: BorrowedFd<'_>,
        to: &Path,
    ) -> io::Result<()> {
        supported(renameat_with(
            directory,
            from,
            other,
            to,
            RenameFlags::NOREPLACE,
        ))
    }

    fn exchange(
        directory: BorrowedFd<'_>,
        name: &Path,
        other: BorrowedFd<'_>,
        other_name: &Path,
    ) -> io::Result<()> {
        supported(renameat_with(
            directory,
            name,
            other,
            other_name,
            RenameFlags::EXCHANGE,
        ))
    }

    fn sync_disk(directory: BorrowedFd<'_>) -> io::Result<()> {
        Ok(syncfs(directory)?)
    }

    fn sync_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
        Ok(fsync(directory)?)
    }

    fn reserve(file: &File, bytes: u64) -> io::Result<()> {
        Ok(fallocate(file, FallocateFlags::empty(), 0, bytes)?)
    }

    fn lock_holder(file: &File) -> Option<u32> {
        let file = file.metadata().ok()?;
        let device = file.dev();
        let place = format!("{:02x}:{:02x}:{}", major(device), minor(device), file.ino());
        let locks = fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| holder_in(line, &place))
    }
}

/// Names an old kernel or a file system that does not know a flag as the reason.
fn supported(renamed: Result<(), Errno>) -> io::Result<()> {
    match renamed {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        other => Ok(other?),
    }
}

/// Opens one directory after the other, without permission to read them.
fn open_step_by_step(
    directory: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let names: Vec<_> = names.collect();
    let Some((last, above)) = names.split_last() else {
        return openat(directory, ".", flags, mode);
    };
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut reached: Option<OwnedFd> = None;
    for name in above {
        let from = reached
            .as_ref()
            .map_or(directory, |reached| reached.as_fd());
        let next = openat(from, *name, step, Mode::empty());
        reached = Some(next.map_err(|error| explained(error, from, Path::new(name)))?);
    }
    let from = reached
        .as_ref()
        .map_or(directory, |reached| reached.as_fd());
    openat(from, *last, flags, mode).map_err(|error| explained(error, from, Path::new(last)))
}

/// Names a link as the reason of an error. The system has several errors for a link, and some of
/// them have other causes too.
fn explained(error: Errno, from: BorrowedFd<'_>, name: &Path) -> Errno {
    let is_link = || {
        statat(from, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    };
    match error {
        Errno::NOTDIR if is_link() => Errno::LOOP,
        other => other,
    }
}

/// Returns the process of a line such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`.
fn holder_in(line: &str, place: &str) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [_, "FLOCK", _, _, pid, at, ..] if *at == place => pid.parse().ok().filter(|pid| *pid > 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
            let modern = System::open_below(directory.as_fd(), path, flags, mode);
            let old = open_step_by_step(directory.as_fd(), path, flags, mode);
            for opened in [modern, old.map_err(io::Error::from)] {
                let error = opened.unwrap_err().raw_os_error();
                assert_eq!(error, Some(Errno::LOOP.raw_os_error()));
            }
        }
        let path = Path::new("inner/file");
        System::open_below(directory.as_fd(), path, flags, mode).unwrap();
        open_step_by_step(directory.as_fd(), path, flags, mode).unwrap();
    }

    #[test]
    fn the_holder_of_a_lock_is_read_from_its_line() {
        let line = "12: FLOCK  ADVISORY  WRITE 4711 fe:01:99 0 EOF";
        let waiting = "12: -> FLOCK  ADVISORY  WRITE 1 fe:01:99 0 EOF";
        assert_eq!(holder_in(line, "fe:01:99"), Some(4711));
        assert_eq!(holder_in(line, "fe:01:9"), None);
        assert_eq!(holder_in(&line.replace("FLOCK", "POSIX"), "fe:01:99"), None);
        assert_eq!(holder_in(waiting, "fe:01:99"), None);
    }
}
