//! Takes the last landing back: its files become what they were, and its results wait again.

use std::path::{Path, PathBuf};

use pi_subagents_configuration::Trust;
use pi_subagents_git::{FilterTrust, Landing, LandingMark, Repository, SavedEdits, TakenBack};
use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::text::{first_of, one_line, shell_quoted};
use schemars::JsonSchema;
use serde::Serialize;

use super::close::{finish_interrupted, reopen};
use super::landing_note::LandingNote;
use super::review_lock::lock_review;
use crate::known_index::KnownIndex;
use crate::merging::interruptions;
use crate::results::failed;
use crate::workspace::{WorkspaceFile, files_words, place};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// At most so many files are named.
const MOST_NAMED: usize = 3;

/// A landing that was taken back.
#[derive(Debug)]
pub struct UndoReport {
    pub(super) names: String,
    pub(super) runs: Vec<String>,
    pub(super) files: Vec<WorkspaceFile>,
    pub warnings: Vec<String>,
}

/// The JSON of `undo`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedUndo<'a> {
    /// The runs whose results wait again.
    run_ids: &'a [String],
    /// The files that have changed in the checkout.
    files: &'a [WorkspaceFile],
    /// Sentences about what was found on the way.
    warnings: &'a [String],
}

impl UndoReport {
    /// Says what was taken back.
    pub fn line(&self) -> String {
        let files = files_words(&self.files);
        format!("✓ {}: taken back, {files}; waits again", self.names)
    }

    /// Says the same with what was found on the way, for a screen.
    pub fn lines(&self) -> Vec<String> {
        [vec![self.line()], self.warnings.clone()].concat()
    }

    /// Describes the same for programs.
    pub fn printed(&self) -> PrintedUndo<'_> {
        PrintedUndo {
            run_ids: &self.runs,
            files: &self.files,
            warnings: &self.warnings,
        }
    }
}

/// Takes the last landing of a checkout back that was not taken back yet. Fails, and changes nothing,
/// if its files were changed since.
pub fn undo(
    places: &Places,
    index: &KnownIndex,
    edits: SavedEdits,
) -> Result<UndoReport, CommandError> {
    let checkout = checkout_of(places)?;
    let _lock = lock_review(&checkout)?;
    let mut warnings = finish_interrupted(&checkout, places, index)?;
    let landing = last_landing(&checkout)?;
    let note = LandingNote::read(&landing);
    let names = note.as_ref().map_or_else(String::new, LandingNote::names);
    let taken_back = landing.take_back(edits).map_err(|error| failed(&error))?;
    let (files, late_saves) = match taken_back {
        TakenBack::Whole { files, late_saves } => (files, late_saves),
        refused => return Err(refusal(&names, &refused)),
    };
    warnings.extend(interruptions(&[], &late_saves));
    reopen(&checkout, &landing, index)?;
    let runs = note.into_iter().flat_map(|note| note.runs);
    Ok(UndoReport {
        names,
        runs: runs.map(|run| run.run.to_string()).collect(),
        files: files.iter().map(WorkspaceFile::of).collect(),
        warnings,
    })
}

/// Finds the checkout of the person, with the filters of the repository if it is trusted.
pub(super) fn checkout_of(places: &Places) -> Result<Repository, CommandError> {
    let found = Repository::find(&places.cwd).map_err(|error| failed(&error))?;
    let (trust, _) = Trust::read(&places.agent_dir);
    if trust.of(found.top()).is_trusted() {
        return found
            .with_filters(FilterTrust::Repository)
            .map_err(|error| failed(&error));
    }
    Ok(found)
}

/// Finds the last landing that was not taken back yet.
pub(super) fn last_landing(checkout: &Repository) -> Result<Landing, CommandError> {
    let landings = Landing::all(checkout).map_err(|error| failed(&error))?;
    let mut standing = landings.into_iter().rev();
    let last = standing.find(|one| !one.has(LandingMark::TakenBack));
    last.ok_or_else(|| {
        CommandError::no_answer("there is nothing to take back here").advise(
            "",
            Advice::Review,
            " lists what waits.",
        )
    })
}

/// Says why a landing is not taken back, and what helps.
pub(super) fn refusal(names: &str, why: &TakenBack) -> CommandError {
    let first = |files: &[PathBuf]| {
        let names = files
            .iter()
            .map(|file| one_line(&file.display().to_string()));
        let names: Vec<String> = names.collect();
        first_of(names, MOST_NAMED, ", ")
    };
    let typed = |file: Option<&PathBuf>| {
        let file = file.map_or(Path::new("."), PathBuf::as_path);
        shell_quoted(&file.display().to_string())
    };
    let were = |files: &[PathBuf]| if files.len() == 1 { "was" } else { "were" };
    match why {
        TakenBack::Edited(files) => {
            let words = format!(
                "{names}: not taken back; {} {} edited since",
                first(files),
                were(files)
            );
            let rest = " takes back the rest and keeps the edits.";
            CommandError::failed(words).advise("", Advice::UndoKeepingEdits, rest)
        }
        TakenBack::Staged(files) => {
            let words = format!(
                "{names}: not taken back; {} {} staged since",
                first(files),
                were(files)
            );
            let typed = typed(files.first());
            CommandError::failed(words).hint(format!("git restore --staged {typed}"))
        }
        TakenBack::Committed { files, commit } => {
            let words = format!(
                "{names}: not taken back; {} {} committed in {commit}",
                first(files),
                were(files)
            );
            CommandError::failed(words).hint(format!("git revert {commit}"))
        }
        TakenBack::Conflicts(conflicts) => {
            let places = first_of(conflicts.iter().map(place), MOST_NAMED, ", ");
            let words = format!(
                "{names}: not taken back; {places} was edited since, in the lines that would go"
            );
            CommandError::failed(words)
                .hint("git diff shows these lines; change them by hand, or keep them.")
        }
        TakenBack::InTheWay(files) => {
            let words = format!(
                "{names}: not taken back; {} is where an old file comes back, and git does not keep it",
                first(files)
            );
            CommandError::failed(words).hint("Move it away, and try again.")
        }
        TakenBack::Moved(file) => {
            let words = format!(
                "{names}: not taken back; {} was changed in this moment",
                first(std::slice::from_ref(file))
            );
            CommandError::failed(words).hint("Try again.")
        }
        TakenBack::Forgotten | TakenBack::Whole { .. } => CommandError::failed(format!(
            "{names}: not taken back; git does not keep the state before it any more"
        )),
    }
}
