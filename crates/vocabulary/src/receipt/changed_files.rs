//! Paths as receipts show them, by their letters alone: no file is looked at.

use std::path::{Component, Path, PathBuf};

use super::{FileSource, MAX_FILES, SeenFiles};
use crate::text;

/// The number of characters of a path that are kept.
const MAX_PATH: usize = 1000;

impl SeenFiles {
    /// Returns the files that git found in the worktree of a run.
    pub(super) fn of_worktree(files: impl IntoIterator<Item = String>) -> Self {
        let mut files = files.into_iter();
        let listed = files.by_ref().take(MAX_FILES);
        Self {
            changed: listed
                .map(|path| text::cut_characters(&path, MAX_PATH))
                .collect(),
            unlisted: files.count(),
            source: FileSource::Worktree,
            ..Self::default()
        }
    }

    /// Returns whether all these files are files of calls that changed files. Git names files from
    /// the top of the worktree, calls from the directory of the run, which may be below it.
    pub(super) fn explain(&self, found: &Self) -> bool {
        let is_explained = |path: &String| {
            let path = Path::new(path);
            self.changed.iter().any(|edited| path.ends_with(edited))
        };
        found.unlisted == 0
            && found.changed.len() <= self.changed.len()
            && found.changed.iter().all(is_explained)
    }

    /// Adds a call that changed a file.
    pub(super) fn add(&mut self, path: &str, cwd: Option<&Path>) {
        self.edits += 1;
        let path = shown_path(path, cwd);
        if self.changed.contains(&path) {
            return;
        }
        if self.changed.len() < MAX_FILES {
            self.changed.push(path);
        } else {
            self.unlisted += 1;
        }
    }
}

/// Returns a path that a model named, relative to the directory if it is below it.
pub(crate) fn shown_path(path: &str, cwd: Option<&Path>) -> String {
    // Models write an @ before a path, as people do, and children take it off.
    let path = path.strip_prefix('@').unwrap_or(path);
    let path = Path::new(path);
    let absolute = cwd.filter(|_| !path.starts_with("~"));
    let path = match absolute {
        Some(cwd) => {
            let whole = without_dots(&cwd.join(path));
            let inside = whole.strip_prefix(without_dots(cwd)).map(Path::to_owned);
            inside.unwrap_or(whole)
        }
        None => without_dots(path),
    };
    text::cut_characters(&path.to_string_lossy(), MAX_PATH)
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => _ = plain.pop(),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_directory_of_the_run() {
        let cwd = Some(Path::new("/home/me/repo"));
        for (path, expected) in [
            ("src/a.rs", "src/a.rs"),
            ("./src/../b.rs", "b.rs"),
            ("/home/me/repo/src/a.rs", "src/a.rs"),
            ("@src/a.rs", "src/a.rs"),
            ("/etc/hosts", "/etc/hosts"),
            ("../other/c.rs", "/home/me/other/c.rs"),
            ("~/notes.md", "~/notes.md"),
        ] {
            assert_eq!(shown_path(path, cwd), expected, "{path}");
        }
        assert_eq!(shown_path("./a", None), "a");
    }
}
