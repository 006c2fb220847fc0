//! The files of the workspace as a value, so that every rule is a function over it.

use std::fs;
use std::io;
use std::path::Path;

/// The names that git does not track, on every level; `.gitignore` has the same names.
const NOT_OURS: [&str; 4] = [".git", ".pi", "node_modules", "target"];

/// All files of a workspace, ordered by path.
#[derive(Debug, Default)]
pub struct Tree {
    /// The files.
    pub files: Vec<SourceFile>,
}

/// One file.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the root of the workspace, with `/` between the parts.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its text, empty if it is not UTF-8.
    pub text: String,
}

impl Tree {
    /// Reads a workspace. Git is not asked: it may be missing, or refuse a foreign directory.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_directory(root, "")?;
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(tree)
    }

    /// Makes a tree of made-up files.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).to_owned(),
            size: text.len() as u64,
            text: (*text).to_owned(),
        };
        Self {
            files: files.iter().map(file).collect(),
        }
    }

    /// Returns the text of the file at this path, if there is one.
    pub fn text(&self, path: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.path == path)?;
        Some(&file.text)
    }

    fn read_directory(&mut self, directory: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if NOT_OURS.contains(&name.as_str()) || name.ends_with(".snap.new") {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.read_directory(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                let bytes = fs::read(entry.path())?;
                self.files.push(SourceFile {
                    path,
                    size: bytes.len() as u64,
                    text: String::from_utf8(bytes).unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}

impl SourceFile {
    /// Returns whether the name ends with one of these extensions.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.path).extension();
        extension.is_some_and(|extension| extensions.iter().any(|one| extension == *one))
    }

    /// Returns the lines with their numbers, counted from 1.
    pub fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .split('\n')
            .zip(1..)
            .map(|(line, number)| (number, line))
    }
}
