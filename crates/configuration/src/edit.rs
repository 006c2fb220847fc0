//! Saves and deletes definitions.
//!
//! An existing file keeps its comments, its order and the keys we do not know. The new text is read
//! again and compared before it takes the place of the old file.

mod compose;
mod patch;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pi_subagents_files::{self as files, Audience};
use pi_subagents_pi_files::{Problem, markdown};
use pi_subagents_vocabulary::{Definition, Scope};

use crate::formats::{self, Source, fits_name};
use crate::places::FolderDialect;

/// A definition could not be saved; the old file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The name is not allowed.
    #[error("the name \"{0}\" may have only letters, digits, \"-\" and \"_\"")]
    Name(String),
    /// A key would come with a repository.
    #[error("an apiKey is never kept in a file of a project")]
    KeyInProject,
    /// The file that is there makes no sense.
    #[error("{} is not an agent file that could be changed: {reason}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// The problem that was found in it.
        reason: String,
    },
    /// The text to be written does not read back as the definition that was meant.
    #[error("{} cannot be changed without losing something; edit it by hand", .0.display())]
    Unfaithful(PathBuf),
    /// The file could not be written.
    #[error("{} cannot be written", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A definition could not be deleted.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be deleted", file.display())]
pub struct DeleteError {
    file: PathBuf,
    source: io::Error,
}

/// Saves a definition to its own file.
pub fn save(definition: &Definition) -> Result<(), SaveError> {
    if !fits_name(&definition.name) {
        return Err(SaveError::Name(definition.name.clone()));
    }
    if definition.scope == Scope::Project && definition.api_key.is_some() {
        return Err(SaveError::KeyInProject);
    }
    let write_error = |source| SaveError::Write {
        file: definition.file.clone(),
        source,
    };
    // A link stays a link: the file it leads to is replaced.
    let target = fs::canonicalize(&definition.file).unwrap_or_else(|_| definition.file.clone());
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(write_error)?;
    }
    let content = if target.exists() {
        changed(definition, &target)?
    } else {
        compose::file(definition)
    };
    if !reads_as(&content, definition) {
        return Err(SaveError::Unfaithful(definition.file.clone()));
    }
    let audience = audience(definition, &target);
    files::replace(&target, content.as_bytes(), audience).map_err(write_error)
}

/// Returns the text of a copy of another tool's agent, with the body byte for byte.
pub fn import_text(
    definition: &Definition,
    comments: &[String],
    body: &str,
) -> Result<String, SaveError> {
    let text = compose::copy(definition, comments, body);
    if reads_as(&text, definition) {
        return Ok(text);
    }
    Err(SaveError::Unfaithful(definition.file.clone()))
}

/// Deletes the file of a definition. If the file is a link, only the link is deleted.
pub fn delete(file: &Path) -> Result<(), DeleteError> {
    fs::remove_file(file).map_err(|source| DeleteError {
        file: file.to_owned(),
        source,
    })
}

/// Returns the old file with the changed fields in it.
fn changed(definition: &Definition, target: &Path) -> Result<String, SaveError> {
    let broken = |problem: Problem| SaveError::Broken {
        file: definition.file.clone(),
        reason: problem.message,
    };
    let bytes = markdown::read(target).map_err(broken)?;
    let (old, _) = formats::parse(&source(definition), &bytes).map_err(broken)?;
    let text = markdown::text_of(&bytes).map_err(broken)?;
    let changed = patch::file(text, &old, definition).map_err(broken)?;
    let kept = |text: &str| formats::unknown_entries(text).unwrap_or_default();
    if kept(text) != kept(&changed) {
        return Err(SaveError::Unfaithful(definition.file.clone()));
    }
    Ok(changed)
}

fn reads_as(content: &str, meant: &Definition) -> bool {
    let Ok((read, _)) = formats::parse(&source(meant), content.as_bytes()) else {
        return false;
    };
    without_origins(read) == without_origins(meant.clone())
}

fn without_origins(definition: Definition) -> Definition {
    Definition {
        origins: BTreeMap::new(),
        ..definition
    }
}

fn source(definition: &Definition) -> Source {
    let folder = definition.file.parent().unwrap_or(Path::new(""));
    Source {
        file: definition.file.clone(),
        dialect: FolderDialect::of_folder(folder),
        scope: definition.scope,
        below: PathBuf::new(),
        dropped: Vec::new(),
    }
}

fn audience(definition: &Definition, target: &Path) -> Audience {
    if definition.api_key.is_some() {
        return Audience::Private;
    }
    let old = fs::metadata(target).map(|metadata| metadata.permissions().mode() & 0o777);
    old.map_or(Audience::Ordinary, Audience::Mode)
}
