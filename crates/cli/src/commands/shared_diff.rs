//! The diff of a run that worked in a shared checkout: made from its own successful edits and
//! writes, because git does not know who changed what there.

use std::collections::BTreeMap;
use std::process::ExitCode;

use pi_subagents_records::{IndexedRun, read_events};
use pi_subagents_view::{Line, Paint};
use pi_subagents_vocabulary::{SeenChange, SeenEdit, SeenEdits, text};
use serde_json::json;

use super::diff::print_lines;
use crate::sheet::Sheet;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::no_result::has_begun;
use pi_subagents_runs::results::painted;
use pi_subagents_runs::workspace::Workspace;

/// The note for a person about such a diff.
const NOTE: &str = "! This run worked in a shared checkout. The diff is made from its successful edits and writes; what its shell commands changed is not in it.";

/// The changes that a run in a shared checkout made by its own calls.
pub(super) struct SharedDiff {
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

    /// Prints the changes: whole, one line per file, or as JSON.
    pub(super) fn print(
        &self,
        is_short: bool,
        places: &Places,
        printer: Printer,
    ) -> Result<ExitCode, CommandError> {
        if printer.is_json() {
            printer.json(&self.json());
            return Ok(ExitCode::SUCCESS);
        }
        if self.seen.edits.is_empty() {
            return Err(CommandError::no_answer(format!(
                "{} made no successful edit or write",
                self.run
            ))
            .hint("It worked in a shared checkout; git diff shows what has changed there by anybody. With --isolation worktree each run works in a worktree of its own."));
        }
        if is_short {
            self.print_stat(printer);
        } else {
            let patch: String = self.seen.edits.iter().map(SeenEdit::patch).collect();
            print_patch(&clean_lines(&patch), places, printer);
        }
        printer.note(NOTE);
        if self.seen.left_out > 0 {
            printer.note(&format!(
                "! Changes beyond 20 MB are left out: {}.",
                text::count(self.seen.left_out, "later change")
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_stat(&self, printer: Printer) {
        let files = self.files();
        let rows = files
            .iter()
            .map(|(path, totals)| vec![text::one_line(path), totals.words()]);
        printer.data(&text::aligned(&rows.collect::<Vec<_>>()));
        printer.note(&text::count(files.len(), "file"));
    }

    fn files(&self) -> BTreeMap<&str, Totals> {
        let mut files: BTreeMap<&str, Totals> = BTreeMap::new();
        for edit in &self.seen.edits {
            files.entry(&edit.path).or_default().add(&edit.change);
        }
        files
    }

    fn json(&self) -> serde_json::Value {
        let files = self.files();
        let files: Vec<_> = files
            .iter()
            .map(|(path, totals)| {
                json!({
                    "path": path, "edits": totals.edits,
                    "added": totals.lines.map(|(added, _)| added),
                    "removed": totals.lines.map(|(_, removed)| removed),
                })
            })
            .collect();
        let patch: String = self.seen.edits.iter().map(SeenEdit::patch).collect();
        json!({
            "runId": self.run, "source": "calls", "files": files, "patch": patch,
            "leftOut": self.seen.left_out,
        })
    }
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

/// Prints a patch as it is, or in colours on a terminal.
fn print_patch(patch: &str, places: &Places, printer: Printer) {
    if Sheet::of_stdout(places).paint() == Paint::Plain {
        return printer.data(patch);
    }
    let lines: Vec<Line> = patch.lines().map(painted).collect();
    print_lines(&lines, places, printer);
}

/// Cleans what a model wrote for a terminal, line by line.
fn clean_lines(patch: &str) -> String {
    let lines: Vec<String> = patch.lines().map(text::clean).collect();
    lines.join("\n")
}
