//! The archive for people without a package manager, for `install.sh`, Homebrew and binstall.

use super::contents::{Contents, own_file};
use super::gzip::gzip;
use super::packed_file::{PackedFile, below};
use super::release::{NAME, Release};
use super::tar::tar;
use crate::Outcome;

/// Returns the archive: one folder with the program, its pages and its scripts.
pub(super) fn tarball(release: &Release, contents: &Contents) -> Outcome<Vec<u8>> {
    let mut files = below("man/man1", contents.manual.clone());
    let scripts = &contents.completions;
    files.extend([
        PackedFile::program(NAME, contents.program.clone()),
        PackedFile::text("completions/pi-subagents.bash", scripts.bash.clone()),
        PackedFile::text("completions/_pi-subagents", scripts.zsh.clone()),
        PackedFile::text("completions/pi-subagents.fish", scripts.fish.clone()),
        PackedFile::text("README.md", own_file("README.md")?),
        PackedFile::text("LICENSE", own_file("LICENSE")?),
    ]);
    gzip(&tar(&below(&release.folder(), files))?)
}
