//! The packages for npm: the extension of pi with a launcher, and the program for one platform. No
//! package has a script that runs when it is installed.

use super::contents::{Contents, own_file};
use super::gzip::gzip;
use super::packed_file::{PackedFile, below};
use super::release::{NAME, Release};
use super::tar::tar;
use super::template::filled;
use crate::Outcome;
use crate::machine::root;
use crate::source::Tree;

/// The folders and files of `extension/` that are shipped; `files` in its `package.json` has the same.
const SHIPPED: [&str; 5] = [
    "launcher.js",
    "manifest.json",
    "package.json",
    "prompts/",
    "src/",
];

/// Returns the package with the extension.
pub(super) fn extension() -> Outcome<Vec<u8>> {
    let tree = Tree::read(&root().join("extension"))?;
    let is_shipped = |path: &str| {
        SHIPPED
            .iter()
            .any(|one| path == *one || (one.ends_with('/') && path.starts_with(one)))
    };
    let shipped = tree.files.into_iter().filter(|file| is_shipped(&file.path));
    let mut files: Vec<PackedFile> = shipped
        .map(|file| match file.path.as_str() {
            "launcher.js" => PackedFile::program(file.path, file.text),
            _ => PackedFile::text(file.path, file.text),
        })
        .collect();
    for name in ["CHANGELOG.md", "LICENSE", "README.md"] {
        files.push(PackedFile::text(name, own_file(name)?));
    }
    package(files)
}

/// Returns the package with the program.
pub(super) fn platform(release: &Release, contents: &Contents) -> Outcome<Vec<u8>> {
    let manifest = filled("npm/platform.json", &release.values())?;
    package(vec![
        PackedFile::text("package.json", manifest),
        PackedFile::text("LICENSE", own_file("LICENSE")?),
        PackedFile::program(format!("bin/{NAME}"), contents.program.clone()),
    ])
}

/// Packs files as npm wants them.
pub(super) fn package(files: Vec<PackedFile>) -> Outcome<Vec<u8>> {
    gzip(&tar(&below("package", files))?)
}
