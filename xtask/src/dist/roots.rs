//! Root file systems of Debian, made of its own packages: one in which workers run, and an old one on
//! which the floor of glibc is tried.

use std::fs;
use std::path::{Path, PathBuf};

use super::packed_file::TIME;
use crate::Outcome;
use crate::machine::{program, target};

/// Directories of Debian that only its package manager fills again.
const LEFT_OUT: [&str; 3] = ["./var/cache/apt", "./var/lib/apt/lists", "./var/log"];

/// A root file system below the build directory.
#[derive(Clone, Copy)]
pub(super) enum Root {
    /// Debian 13, whose git is new enough for worktrees.
    Worker,
    /// Debian 11, with glibc 2.31.
    Old,
}

impl Root {
    const ALL: [Self; 2] = [Self::Worker, Self::Old];

    /// Returns its directory, whether it is there or not.
    pub(super) fn path(self) -> Outcome<PathBuf> {
        let name = match self {
            Self::Worker => "worker",
            Self::Old => "old",
        };
        Ok(target()?.join("roots").join(name))
    }

    /// Returns its archive, which everybody may read.
    pub(super) fn archive(self) -> Outcome<PathBuf> {
        Ok(self.path()?.with_extension("tar"))
    }

    fn suite(self) -> &'static str {
        match self {
            Self::Worker => "trixie",
            Self::Old => "bullseye",
        }
    }

    fn packages(self) -> &'static str {
        match self {
            Self::Worker => "git,ca-certificates",
            Self::Old => "ca-certificates",
        }
    }

    fn install(self) -> Outcome<()> {
        let path = self.path()?;
        if !path.exists() {
            let whole = path.with_extension("part");
            let made = program("debootstrap")
                .arg("--variant=minbase")
                .arg(format!("--include={}", self.packages()))
                .arg(self.suite())
                .arg(&whole)
                .status()
                .map_err(|error| format!("debootstrap, which needs root: {error}"))?;
            if !made.success() {
                return Err(format!("debootstrap {} ({made})", self.suite()).into());
            }
            add_user(&whole)?;
            fs::rename(whole, &path)?;
        }
        if !self.archive()?.exists() {
            pack(&path, &self.archive()?)?;
        }
        println!("{}", path.display());
        Ok(())
    }
}

/// Adds the user as whom the program runs.
fn add_user(root: &Path) -> Outcome<()> {
    let status = program("chroot")
        .arg(root)
        .args(["useradd", "--create-home", "--uid", "1000", "worker"])
        .status()?;
    if !status.success() {
        return Err(format!("useradd ({status})").into());
    }
    Ok(())
}

/// Packs a root with its owners, links and devices, which our own tar does not write.
fn pack(root: &Path, archive: &Path) -> Outcome<()> {
    let part = archive.with_extension("part");
    let left_out = LEFT_OUT.map(|directory| format!("--exclude={directory}/*"));
    let status = program("tar")
        .args(["--create", "--sort=name", "--numeric-owner", "--format=gnu"])
        .arg(format!("--mtime=@{TIME}"))
        .args(left_out)
        .arg("--file")
        .arg(&part)
        .arg("--directory")
        .arg(root)
        .arg(".")
        .status()?;
    if !status.success() {
        return Err(format!("tar of {} ({status})", root.display()).into());
    }
    Ok(fs::rename(part, archive)?)
}

/// Makes the root file systems that are not there yet.
pub(crate) fn install_roots() -> Outcome<()> {
    fs::create_dir_all(target()?.join("roots"))?;
    Root::ALL.into_iter().try_for_each(Root::install)
}
