//! The agent files of other tools, read again for somebody who wants to copy them.

use std::path::{Path, PathBuf};

use pi_subagents_pi_files::{Problem, markdown};
use pi_subagents_vocabulary::{Definition, Dialect, Scope};

use crate::file_list::FileList;
use crate::folder::{is_link_to_outside, read_file};
use crate::formats::FileContent;
use crate::places::{DefinitionPlaces, Folder};
use crate::trust::Trust;

/// An agent file of another tool.
#[derive(Debug)]
pub struct ForeignAgent {
    /// The file.
    pub file: PathBuf,
    /// The tool.
    pub dialect: Dialect,
    /// The scope of the file.
    pub scope: Scope,
    /// The definition, or why there is none.
    pub definition: Result<Definition, Problem>,
}

/// Reads all files of other tools that count, nearest first, without the keys that the user wants
/// to drop. Files of projects that nobody trusts are left out.
pub fn foreign_agents(
    places: &DefinitionPlaces,
    trust: &Trust,
    dropped: &[String],
) -> Vec<ForeignAgent> {
    let is_trusted =
        |folder: &&Folder| folder.scope == Scope::Global || trust.of(&folder.owner).is_trusted();
    let folders = places.folders.iter().filter(is_trusted);
    folders
        .flat_map(|folder| agents_of(folder, dropped))
        .collect()
}

fn agents_of(folder: &Folder, dropped: &[String]) -> Vec<ForeignAgent> {
    let listed = FileList::of(folder).unwrap_or_default().files.into_iter();
    let own = listed.filter(|listed| !is_link_to_outside(folder, listed));
    own.filter_map(|listed| agent_of(folder, listed.path, dropped))
        .collect()
}

fn agent_of(folder: &Folder, file: PathBuf, dropped: &[String]) -> Option<ForeignAgent> {
    let read = read_file(folder, &file, dropped);
    let (dialect, definition) = match (read, folder.foreign_dialect()) {
        (Ok(FileContent::Definition(definition, _)), _) => (definition.dialect, Ok(*definition)),
        (Ok(FileContent::NotOffered(problem)) | Err(problem), Some(dialect)) => {
            (dialect, Err(problem))
        }
        (Ok(FileContent::NotOffered(_) | FileContent::Nothing) | Err(_), _) => return None,
    };
    dialect.is_foreign().then_some(ForeignAgent {
        file,
        dialect,
        scope: folder.scope,
        definition,
    })
}

/// Returns the text below the frontmatter of a file, byte for byte; empty if the file has none.
pub fn body_bytes(file: &Path) -> Result<String, Problem> {
    let bytes = markdown::read(file)?;
    let text = markdown::text_of(&bytes)?;
    Ok(markdown::split(text).map_or(String::new(), |parts| parts.body.to_owned()))
}
