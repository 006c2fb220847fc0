//! Reads the files of one folder.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_pi_files::{Problem, markdown};
use pi_subagents_vocabulary::{Definition, Scope};

use crate::formats::{self, Source};
use crate::outside_files::leads_out_of;
use crate::places::{Folder, is_markdown};
use crate::warning::{Verdict, Warning};

/// The number of entries of a folder that are looked at: a clone may bring any number of them.
const MOST_ENTRIES: usize = 10_000;

/// The contents of a folder, in the order of the names of its files.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) files: Vec<LoadedFile>,
    pub(crate) warnings: Vec<Warning>,
}

/// A file that could be used.
#[derive(Debug)]
pub(crate) struct LoadedFile {
    pub(crate) definition: Definition,
    /// A link brought it into a project that it is no part of.
    pub(crate) is_from_outside: bool,
}

/// Reads a folder; a file that cannot be used is a warning and hides no other.
pub(crate) fn read(folder: &Folder) -> Contents {
    let mut contents = Contents::default();
    let listed = match markdown_files(&folder.path) {
        Ok(listed) => listed,
        Err(error) => {
            let problem = Problem::new(format!("cannot be read: {error}"));
            let warning = Warning::skipped(folder.path.clone(), problem);
            contents.warnings.push(warning);
            return contents;
        }
    };
    if listed.has_more {
        contents.warnings.push(too_many(folder));
    }
    let is_outside = folder.scope == Scope::Project && leads_out_of(&folder.owner, &folder.path);
    for entry in listed.files {
        let file = entry.path();
        match read_file(folder, &file) {
            Ok((definition, warnings)) => {
                contents.warnings.extend(warnings);
                contents.files.push(LoadedFile {
                    definition,
                    is_from_outside: is_outside || is_link_to_outside(folder, &entry),
                });
            }
            Err(problem) => contents.warnings.push(Warning::skipped(file, problem)),
        }
    }
    contents
}

/// The definition files of a folder.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The files, sorted by name.
    pub(crate) files: Vec<DirEntry>,
    /// True if the folder has entries that were not looked at.
    has_more: bool,
}

/// Lists the definition files of a folder; none if there is no such folder.
pub(crate) fn markdown_files(folder: &Path) -> io::Result<Listed> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listed::default()),
        Err(error) => return Err(error),
    };
    let mut files: Vec<DirEntry> = entries
        .by_ref()
        .take(MOST_ENTRIES)
        .filter(|entry| {
            let name = entry.as_ref().map(DirEntry::file_name).unwrap_or_default();
            entry.is_err() || is_markdown(Path::new(&name))
        })
        .collect::<io::Result<_>>()?;
    files.sort_by_key(DirEntry::file_name);
    let has_more = entries.next().is_some();
    Ok(Listed { files, has_more })
}

fn too_many(folder: &Folder) -> Warning {
    Warning {
        file: folder.path.clone(),
        position: None,
        message: format!("has more than {MOST_ENTRIES} entries; the others are not looked at"),
        verdict: Verdict::Used,
        name: None,
    }
}

fn read_file(folder: &Folder, file: &Path) -> Result<(Definition, Vec<Warning>), Problem> {
    let bytes = markdown::read(file)?;
    let source = Source {
        file: file.to_owned(),
        dialect: folder.dialect,
        scope: folder.scope,
    };
    formats::parse(&source, &bytes)
}

fn is_link_to_outside(folder: &Folder, entry: &DirEntry) -> bool {
    let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
    folder.scope == Scope::Project && is_link && leads_out_of(&folder.owner, &entry.path())
}

/// Returns the name of a definition's file without its ending.
pub(crate) fn stem(file: &Path) -> PathBuf {
    file.file_stem().map(PathBuf::from).unwrap_or_default()
}
