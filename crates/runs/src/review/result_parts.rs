//! Parts of a result that are accepted without the rest: files and hunks.

use std::collections::BTreeSet;
use std::path::Path;

use pi_subagents_git::{Change, ChangePart, ChangeParts, marked_files};
use pi_subagents_vocabulary::text::{first_of, one_line};

use super::landing_note::LandedPart;
use super::queue::WaitingResult;
use super::result_source::ResultSource;
use crate::results::failed;
use crate::workspace::PartsLeft;
use pi_subagents_ground::error::CommandError;

/// At most so many files are named.
const MOST_NAMED: usize = 3;

/// The parts of a result that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedParts {
    /// Those with these names.
    Named(BTreeSet<String>),
    /// Those of these files, and of the files in these directories.
    Files(Vec<String>),
}

/// A part of a result that is accepted without the rest.
pub(super) struct TakenPart {
    pub(super) change: Change,
    base: String,
    before: Option<PartsLeft>,
    pub(super) after: PartsLeft,
    has_copies: bool,
    has_markers: bool,
}

impl WantedParts {
    /// Finds the wanted parts of a result; `None` if they are the whole.
    pub(super) fn of(&self, waiting: &WaitingResult) -> Result<Option<TakenPart>, CommandError> {
        let result = &waiting.result;
        let name = || one_line(&waiting.facts.name);
        let parts = waiting.source().change_parts();
        let parts = parts.map_err(|why| CommandError::failed(format!("{}: {why}", name())))?;
        let chosen = self.chosen(&parts, &name())?;
        let number = chosen.len();
        if number == parts.parts().len() {
            return Ok(None);
        }
        let chosen_paths: Vec<&Path> = parts
            .parts()
            .iter()
            .filter(|part| chosen.contains(&part.name))
            .map(|part| part.path.as_path())
            .collect();
        let change = parts.take(&result.repository, &chosen);
        let change = change.map_err(|error| failed(&error))?;
        let workspace = result.workspace.as_ref();
        let before = workspace.and_then(|workspace| workspace.parts);
        let marked = marked_files(&result.repository, &change).map_err(|error| failed(&error))?;
        Ok(Some(TakenPart {
            change,
            base: result.change.base.to_string(),
            after: PartsLeft {
                left: parts.parts().len() - number,
                of: before.map_or(parts.parts().len(), |before| before.of),
            },
            before,
            has_copies: workspace.is_some_and(|workspace| {
                let mut copies = workspace.added_copies.iter();
                copies.any(|copy| chosen_paths.contains(&copy.as_path()))
            }),
            has_markers: !marked.is_empty(),
        }))
    }

    /// Returns the names of the wanted parts. Fails if there is none, or a file has none.
    fn chosen(&self, parts: &ChangeParts, name: &str) -> Result<BTreeSet<String>, CommandError> {
        let all = parts.parts();
        let chosen: BTreeSet<String> = match self {
            Self::Named(names) => {
                let known = all.iter().filter(|part| names.contains(&part.name));
                let known: BTreeSet<String> = known.map(|part| part.name.clone()).collect();
                if known.len() < names.len() {
                    let words =
                        format!("{name} has changed; some chosen parts are not there any more");
                    return Err(CommandError::failed(words).hint("Choose the parts again."));
                }
                known
            }
            Self::Files(files) => {
                let is_in = |part: &ChangePart, file: &str| {
                    let paths = [Some(&part.path), part.from.as_ref()];
                    paths
                        .into_iter()
                        .flatten()
                        .any(|path| path.starts_with(file))
                };
                let unknown = files
                    .iter()
                    .filter(|file| !all.iter().any(|part| is_in(part, file)));
                let unknown: Vec<String> = unknown.map(|file| one_line(file)).collect();
                if !unknown.is_empty() {
                    let files = first_of(unknown, MOST_NAMED, ", ");
                    return Err(CommandError::not_found(format!(
                        "{name} does not change {files}"
                    )));
                }
                let wanted = all
                    .iter()
                    .filter(|part| files.iter().any(|file| is_in(part, file)));
                wanted.map(|part| part.name.clone()).collect()
            }
        };
        if chosen.is_empty() {
            return Err(CommandError::usage(format!("no part of {name} was chosen")));
        }
        Ok(chosen)
    }
}

impl TakenPart {
    /// Returns whether it can be written as it is.
    pub(super) fn is_writable(&self) -> bool {
        !self.has_copies && !self.has_markers
    }

    /// Notes it for a landing.
    pub(super) fn note(&self) -> LandedPart {
        LandedPart {
            base: self.base.clone(),
            taken: self.change.result.to_string(),
            before: self.before,
            after: self.after,
        }
    }
}

impl ResultSource {
    /// Lists the parts of the result that can be accepted by themselves. An error says why there are
    /// none.
    pub fn parts(&self) -> Result<Vec<ChangePart>, String> {
        Ok(self.change_parts()?.parts().to_vec())
    }

    pub(super) fn change_parts(&self) -> Result<ChangeParts, String> {
        let parts = ChangeParts::of(&self.repository, &self.change);
        let parts = parts.map_err(|error| error.to_string())?;
        parts.ok_or_else(|| "its difference has more than 20 MB, so it has no parts".to_owned())
    }
}

impl WaitingResult {
    /// Says how much of it waits, if parts were accepted before.
    pub fn remainder_words(&self) -> Option<String> {
        let parts = self.result.workspace.as_ref()?.parts?;
        Some(parts.words())
    }
}
