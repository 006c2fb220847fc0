//! Lays the covers of a plan over the files, in the mount namespace of this process.
//!
//! Every path is opened without following links, and everything is done to the open descriptor, so
//! nobody can exchange a directory for a link meanwhile.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
    mount_change, mount_remount, move_mount, open_tree,
};

use crate::cover::{Cover, Covers};
use crate::mount_table::{self, MountEntry, MountOption};
use crate::step::{ConfineFailure, ConfineStep};

/// Mounts whose files are made by the kernel. Landlock keeps the child from writing there.
const MADE_BY_THE_KERNEL: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Keeps mounts of the machine that come later away, and ours from the machine.
pub(crate) fn make_private() -> Result<(), ConfineFailure> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", flags)
        .map_err(|errno| failed(ConfineStep::PrivateMounts, errno, Path::new("/")))
}

/// A cover with the files that it places again.
pub(crate) struct PreparedCover {
    path: PathBuf,
    cover: Cover,
    /// A detached copy of the mounts at the path, or the path itself under an overlay.
    files: Option<OwnedFd>,
    is_directory: bool,
}

/// Opens what the covers place again, before anything covers it.
pub(crate) fn prepare(covers: &Covers) -> Result<Vec<PreparedCover>, ConfineFailure> {
    let prepared = covers.in_order().map(|(path, cover)| {
        let failed = |errno| failed(ConfineStep::Clone, errno, path);
        let found = pin(path).map_err(failed)?;
        let files = match cover {
            Cover::Writable | Cover::ReadOnly => Some(clone(found.as_fd()).map_err(failed)?),
            Cover::HiddenFile => {
                let nothing = pin(Path::new("/dev/null")).map_err(failed)?;
                Some(clone(nothing.as_fd()).map_err(failed)?)
            }
            Cover::Overlay => Some(found),
            Cover::HiddenDirectory | Cover::Private | Cover::Terminals => None,
        };
        Ok(PreparedCover {
            path: path.to_owned(),
            cover,
            files,
            is_directory: path.is_dir(),
        })
    });
    prepared.collect()
}

/// Places the covers, parents first.
pub(crate) fn place(prepared: &[PreparedCover]) -> Result<(), ConfineFailure> {
    for cover in prepared {
        let placed = cover.place();
        placed.map_err(|error| ConfineFailure::new(ConfineStep::Place, &error).at(&cover.path))?;
    }
    Ok(())
}

impl PreparedCover {
    fn place(&self) -> io::Result<()> {
        let target = self.target()?;
        match (self.cover, &self.files) {
            (Cover::Writable | Cover::ReadOnly | Cover::HiddenFile, Some(files)) => {
                attach(files.as_fd(), target.as_fd())
            }
            (Cover::HiddenDirectory, _) => attach_memory("0755", target.as_fd()),
            (Cover::Private, _) => attach_memory("1777", target.as_fd()),
            (Cover::Terminals, _) => attach_terminals(target.as_fd()),
            (Cover::Overlay, Some(files)) => {
                attach_overlay(files.as_fd(), target.as_fd(), &self.path)
            }
            (Cover::Writable | Cover::ReadOnly | Cover::HiddenFile | Cover::Overlay, None) => {
                Err(io::ErrorKind::NotFound.into())
            }
        }
    }

    /// Opens the path on which the cover is mounted. Below an empty directory of ours it is made.
    fn target(&self) -> io::Result<OwnedFd> {
        match pin(&self.path) {
            Err(Errno::NOENT) => {
                if self.is_directory {
                    fs::create_dir_all(&self.path)?;
                } else {
                    fs::create_dir_all(self.path.parent().unwrap_or(Path::new("/")))?;
                    fs::File::create_new(&self.path)?;
                }
                Ok(pin(&self.path)?)
            }
            other => Ok(other?),
        }
    }
}

/// Makes every mount read-only that the child may not write to, with its own options. A mount that
/// cannot be reached under its path is left: the child does not reach it either.
pub(crate) fn make_read_only(covers: &Covers) -> Result<(), ConfineFailure> {
    let table = || -> io::Result<Vec<MountEntry>> {
        let table = fs::read("/proc/self/mountinfo")?;
        mount_table::parse(&table).ok_or_else(|| io::ErrorKind::InvalidData.into())
    };
    let table = table().map_err(|error| ConfineFailure::new(ConfineStep::ReadOnly, &error))?;
    for mount in &table {
        if may_stay_writable(mount, covers) {
            continue;
        }
        let failed = |errno| failed(ConfineStep::ReadOnly, errno, &mount.point);
        if let Some(reached) = reach(mount).map_err(failed)? {
            remount(reached.as_fd(), &mount.options).map_err(failed)?;
        }
    }
    Ok(())
}

fn may_stay_writable(mount: &MountEntry, covers: &Covers) -> bool {
    let mut starts = MADE_BY_THE_KERNEL.iter();
    starts.any(|start| mount.point.starts_with(start))
        || covers.over(&mount.point).is_some_and(Cover::is_writable)
}

/// Opens a mount; `None` if another one covers it, or if nobody comes there.
fn reach(mount: &MountEntry) -> Result<Option<OwnedFd>, Errno> {
    let found = match pin(&mount.point) {
        Ok(found) => found,
        Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let look = statx(&found, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    Ok((look.stx_mnt_id == mount.id).then_some(found))
}

fn remount(mount: BorrowedFd<'_>, options: &[MountOption]) -> Result<(), Errno> {
    let own = options.iter().map(|option| flag(*option));
    let flags = own.fold(MountFlags::BIND | MountFlags::RDONLY, |all, one| all | one);
    mount_remount(by_number(mount), flags, c"")
}

fn flag(option: MountOption) -> MountFlags {
    match option {
        MountOption::NoSetUid => MountFlags::NOSUID,
        MountOption::NoDevices => MountFlags::NODEV,
        MountOption::NoExecution => MountFlags::NOEXEC,
        MountOption::NoAccessTimes => MountFlags::NOATIME,
        MountOption::NoDirectoryAccessTimes => MountFlags::NODIRATIME,
        MountOption::RelativeAccessTimes => MountFlags::RELATIME,
    }
}

/// Opens a path without following a link anywhere.
fn pin(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

fn clone(found: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(found, c"", flags)
}

fn attach(mount: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", target, c"", flags)?)
}

fn attach_memory(mode: &str, target: BorrowedFd<'_>) -> io::Result<()> {
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "mode", mode)?;
    attach_new(system.as_fd(), target)
}

fn attach_terminals(target: BorrowedFd<'_>) -> io::Result<()> {
    let system = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "ptmxmode", "0666")?;
    fsconfig_set_string(&system, "mode", "0620")?;
    attach_new(system.as_fd(), target)
}

/// Lays changes that vanish over a directory: an overlay whose upper part is in memory, under it.
fn attach_overlay(lower: BorrowedFd<'_>, target: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    attach_memory("0700", target)?;
    let memory = pin(path)?;
    let of_memory = PathBuf::from(by_number(memory.as_fd()));
    let (upper, work) = (of_memory.join("upper"), of_memory.join("work"));
    fs::create_dir(&upper)?;
    fs::create_dir(&work)?;
    let system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "lowerdir", by_number(lower))?;
    fsconfig_set_string(&system, "upperdir", &upper)?;
    fsconfig_set_string(&system, "workdir", &work)?;
    fsconfig_set_flag(&system, "userxattr")?;
    attach_new(system.as_fd(), memory.as_fd())
}

fn attach_new(system: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    fsconfig_create(system)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID;
    let mount = fsmount(system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach(mount.as_fd(), target)
}

fn by_number(descriptor: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

fn failed(step: ConfineStep, errno: Errno, path: &Path) -> ConfineFailure {
    ConfineFailure::new(step, &errno.into()).at(path)
}
