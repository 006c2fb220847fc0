//! `models.json`: the user's providers and models, and the problems of the file.

mod shape;

use std::collections::BTreeMap;
use std::path::Path;

use pi_subagents_files::{is_absent, read_own_text};
use pi_subagents_pi_files::json;

use super::LARGEST_FILE;
use super::entries::ProviderEntry;
use shape::Shape;

/// The file in which a user lists providers and models.
pub(super) const MODELS_FILE: &str = "models.json";

/// The content of `models.json`.
#[derive(Debug, Default)]
pub(super) struct ModelsFile {
    pub(super) providers: BTreeMap<String, ProviderEntry>,
    /// Keys that are probably misspelt.
    pub(super) warnings: Vec<String>,
}

/// The reason why the file cannot be used. The text names the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModelsFileError {
    /// It is not JSON, so pi cannot read it either.
    #[error("{0}")]
    NotJson(String),
    /// It holds something that we do not understand.
    #[error("{0}")]
    WrongShape(String),
}

/// Reads the file of an agent directory. A file that does not exist counts as empty.
pub(super) fn read(agent_dir: &Path) -> Result<ModelsFile, ModelsFileError> {
    let path = agent_dir.join(MODELS_FILE);
    let text = match read_own_text(&path, LARGEST_FILE) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(ModelsFile::default()),
        Err(error) => {
            let path = path.display();
            let message = format!("{path} cannot be read: {error}");
            return Err(ModelsFileError::NotJson(message));
        }
    };
    let value = json::parse_relaxed(&text).map_err(|problem| {
        let place = problem.place(&path);
        ModelsFileError::NotJson(format!("{place} is not JSON: {}", problem.message))
    })?;
    Shape::new(&path, &text)
        .read(&value)
        .map_err(ModelsFileError::WrongShape)
}
