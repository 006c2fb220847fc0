//! The ignored files that a user wants to travel, within a limit of their own: a pattern that is too
//! wide would send a whole `node_modules`.

use std::fmt::Write as _;

use pi_subagents_git::{IgnoredFiles, ObjectId, Repository, ignored_files};
use pi_subagents_view::figures::bytes;
use pi_subagents_vocabulary::text::count;

use super::not_packed;
use pi_subagents_ground::error::CommandError;

/// The most such files; the message names it.
const MOST_FILES: usize = 10_000;

/// The most files that are named.
const NAMED: usize = 10;

/// Ignored files that travel, and how much of them may.
pub(super) struct ChosenFiles {
    pub(super) files: IgnoredFiles,
    most: u64,
}

/// The same files, once there is a commit of them.
pub(super) struct Included {
    pub(super) chosen: ChosenFiles,
    pub(super) commit: ObjectId,
}

/// Finds the ignored files that the settings name; `None` if there are none. Too many, or too large
/// ones, are refused before anything of them is packed.
pub(super) fn chosen(
    repository: &Repository,
    patterns: &[String],
    most: u64,
) -> Result<Option<ChosenFiles>, CommandError> {
    let files = ignored_files(repository, patterns).map_err(|error| not_packed(&error))?;
    if files.files.is_empty() {
        return Ok(None);
    }
    let chosen = ChosenFiles { files, most };
    if chosen.files.bytes() > most || chosen.files.files.len() > MOST_FILES {
        return Err(chosen.too_many());
    }
    Ok(Some(chosen))
}

impl ChosenFiles {
    /// Describes them for a person.
    pub(super) fn line(&self) -> String {
        let named = self.files.files.iter().take(NAMED);
        let named: Vec<String> = named.map(|(file, _)| file.display().to_string()).collect();
        let mut line = format!(
            "ignored     {} with {} of at most {}, because subagents.fleet.include names them: {}",
            count(self.files.files.len(), "file"),
            bytes(self.files.bytes()),
            bytes(self.most),
            named.join(", ")
        );
        let more = self.files.files.len().saturating_sub(NAMED);
        if more > 0 {
            // Writing into a text cannot fail.
            _ = write!(line, " and {more} more");
        }
        line
    }

    fn too_many(&self) -> CommandError {
        let mut largest = self.files.files.clone();
        largest.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let named = largest.iter().take(NAMED);
        let named = named.map(|(file, size)| format!("  {}  {}", bytes(*size), file.display()));
        let named: Vec<String> = named.collect();
        CommandError::failed(format!(
            "subagents.fleet.include names {} with {}, and at most 10,000 files and {} (subagents.fleet.maxInclude) of them are sent",
            count(largest.len(), "ignored file"),
            bytes(self.files.bytes()),
            bytes(self.most)
        ))
        .hint(format!("The largest are:\n{}", named.join("\n")))
        .hint("Name fewer files in include, or allow more with maxInclude.")
    }
}
