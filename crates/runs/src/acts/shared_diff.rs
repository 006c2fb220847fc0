//! The diff of a run that worked in a shared checkout: made from its own successful edits and
//! writes, because git does not know who changed what there.

use std::collections::BTreeMap;

use pi_subagents_records::{IndexedRun, read_events};
use pi_subagents_view::Line;
use pi_subagents_vocabulary::receipt::FileSource;
use pi_subagents_vocabulary::{SeenChange, SeenEdit, SeenEdits, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::no_result::has_begun;
use crate::results::painted;
use crate::workspace::Workspace;
use pi_subagents_ground::error::CommandError;

/// The note for a person about such a diff.
const NOTE: &str = "! This run worked in a shared checkout. The diff is made from its successful edits and writes; what its shell commands changed is not in it.";

/// The changes that a run in a shared checkout made by its own calls.
pub struct SharedDiff {
    run: String,
    seen: SeenEdits,
}

impl SharedDiff {
    /// Reads the changes of the latest of some runs; `None` if a worktree or a fleet has them
    /// exactly, or if it never began.
    pub(super) fn of_latest(runs: &[IndexedRun]) -> Result<Option<Self>, CommandError> {
        let has_result = |run: &IndexedRun| {
            run.owner.fleet.is_some() || Workspace::read(run.directory.path()).is_some()
        };
        let latest = runs.last().filter(|latest| has_begun(latest));
        let Some(latest) = latest.filter(|_| !runs.iter().any(has_result)) else {
            return Ok(None);
        };
        let mut seen = SeenEdits::default();
        read_events(&latest.directory, |event| seen.apply(event)).map_err(|error| {
            CommandError::failed(format!("the record of {} cannot be read", latest.run))
                .because(&error)
        })?;
        Ok(Some(Self {
            run: latest.run.to_string(),
            seen,
        }))
    }

    /// Returns the patch as a text that a terminal can show. Fails if there is nothing in it.
    pub fn patch_text(&self) -> Result<String, CommandError> {
        if self.seen.edits.is_empty() {
            return Err(CommandError::no_answer(format!(
                "{} made no successful edit or write",
                self.run
            ))
            .hint("It worked in a shared checkout; git diff shows what has changed there by anybody. With --isolation worktree each run works in its own worktree."));
        }
        // A model wrote it.
        let patch = self.patch();
        let lines: Vec<String> = patch.lines().map(text::clean).collect();
        Ok(lines.join("\n"))
    }

    /// Returns the patch in colours.
    pub(super) fn lines(&self) -> Result<Vec<Line>, CommandError> {
        Ok(self.patch_text()?.lines().map(painted).collect())
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let left_out = (self.seen.left_out > 0).then(|| {
            format!(
                "! Changes beyond 20 MB are left out: {}.",
                text::count(self.seen.left_out, "later change")
            )
        });
        std::iter::once(NOTE.to_owned()).chain(left_out).collect()
    }

    /// Returns each changed file with its lines, in words.
    pub fn files_words(&self) -> Vec<[String; 2]> {
        let files = self.files();
        let rows = files
            .iter()
            .map(|(path, totals)| [text::one_line(path), totals.words()]);
        rows.collect()
    }

    /// Describes the changes for programs. Fails as the patch does.
    pub(super) fn printed(&self) -> Result<SharedChanges<'_>, CommandError> {
        // It fails if there is nothing to show.
        self.patch_text()?;
        let files = self.files().into_iter().map(|(path, totals)| SharedFile {
            path,
            edits: totals.edits,
            added: totals.lines.map(|(added, _)| added),
            removed: totals.lines.map(|(_, removed)| removed),
        });
        Ok(SharedChanges {
            run_id: &self.run,
            source: FileSource::Calls,
            files: files.collect(),
            patch: self.patch(),
            left_out: self.seen.left_out,
        })
    }

    fn patch(&self) -> String {
        self.seen.edits.iter().map(SeenEdit::patch).collect()
    }

    fn files(&self) -> BTreeMap<&str, Totals> {
        let mut files: BTreeMap<&str, Totals> = BTreeMap::new();
        for edit in &self.seen.edits {
            files.entry(&edit.path).or_default().add(&edit.change);
        }
        files
    }
}

/// The changes that a run in a shared checkout made by its own calls, as programs get them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedChanges<'a> {
    run_id: &'a str,
    source: FileSource,
    files: Vec<SharedFile<'a>>,
    patch: String,
    /// The number of later changes that are left out, because there are more than 20 MB.
    left_out: usize,
}

/// A file that a run in a shared checkout has changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SharedFile<'a> {
    path: &'a str,
    /// The number of successful edits and writes.
    edits: usize,
    /// Lines; null if they are not known of every change.
    added: Option<usize>,
    removed: Option<usize>,
}

/// The changes of a run in one file.
struct Totals {
    edits: usize,
    /// Added and removed lines, if they are known of every change.
    lines: Option<(usize, usize)>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            edits: 0,
            lines: Some((0, 0)),
        }
    }
}

impl Totals {
    fn add(&mut self, change: &SeenChange) {
        self.edits += 1;
        let sum = |(added, removed): (usize, usize)| {
            let (more, less) = change.lines()?;
            Some((added + more, removed + less))
        };
        self.lines = self.lines.and_then(sum);
    }

    fn words(&self) -> String {
        match self.lines {
            Some((added, removed)) => format!("+{added} −{removed}"),
            None => "written whole".to_owned(),
        }
    }
}
