//! Reads the files of one folder.

use std::path::{Path, PathBuf};

use pi_subagents_pi_files::{Problem, markdown};
use pi_subagents_vocabulary::{Definition, Scope};

use crate::file_list::{FileList, ListedFile, MOST_ENTRIES};
use crate::formats::{self, FileContent, Source};
use crate::outside_files::leads_out_of;
use crate::places::Folder;
use crate::warning::{Verdict, Warning};

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
    let listed = match FileList::of(folder) {
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
    for listed in listed.files {
        match read_file(folder, &listed.path, &[]) {
            Ok(FileContent::Definition(definition, warnings)) => {
                contents.warnings.extend(warnings);
                contents.files.push(LoadedFile {
                    definition: *definition,
                    is_from_outside: is_outside || is_link_to_outside(folder, &listed),
                });
            }
            Ok(FileContent::NotOffered(problem)) => {
                let warning = Warning::not_offered(listed.path, problem);
                contents.warnings.push(warning);
            }
            Ok(FileContent::Nothing) => {}
            Err(problem) => contents
                .warnings
                .push(Warning::skipped(listed.path, problem)),
        }
    }
    for warning in &mut contents.warnings {
        warning.foreign = folder.foreign_dialect();
    }
    contents
}

fn too_many(folder: &Folder) -> Warning {
    Warning {
        file: folder.path.clone(),
        position: None,
        message: format!("has more than {MOST_ENTRIES} entries; the others are not looked at"),
        verdict: Verdict::Used,
        name: None,
        foreign: None,
    }
}

/// Reads a file of a folder, without the keys that the user wants to drop.
pub(crate) fn read_file(
    folder: &Folder,
    file: &Path,
    dropped: &[String],
) -> Result<FileContent, Problem> {
    let bytes = markdown::read(file)?;
    let source = Source {
        file: file.to_owned(),
        dialect: folder.dialect,
        scope: folder.scope,
        below: file.strip_prefix(&folder.path).unwrap_or(file).to_owned(),
        dropped: dropped.to_vec(),
    };
    formats::read(&source, &bytes)
}

/// Returns whether a file only seems to lie in the project of its folder.
pub(crate) fn is_link_to_outside(folder: &Folder, listed: &ListedFile) -> bool {
    folder.scope == Scope::Project && listed.is_link && leads_out_of(&folder.owner, &listed.path)
}

/// Returns the name of a definition's file without its ending.
pub(crate) fn stem(file: &Path) -> PathBuf {
    file.file_stem().map(PathBuf::from).unwrap_or_default()
}
