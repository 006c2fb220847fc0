//! The fit of runs with a checkout and with each other, for people and for programs.

use pi_subagents_git::{Change, Conflict, Matrix, Repository};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text::first_of;

use super::labels::labels;
use super::printed_results::{
    FittingResult, OtherResult, PrintedConflict, PrintedFit, PrintedOutcome,
};
use super::report::outcome_line;
use super::{HeldBackFiles, RunMergeOutcome, held_back, notes};
use crate::no_result::NoResult;
use crate::results::{RunResult, failed};
use crate::workspace::{matrix_table, place, place_in_both, small_table};
use pi_subagents_ground::error::CommandError;

/// At most so many conflicts of two runs are named in a line.
const MOST_NAMED: usize = 20;

/// Some results, compared with a checkout and with each other.
pub struct Fit<'a> {
    results: &'a [RunResult],
    /// The name of each result.
    labels: Vec<String>,
    matrix: Matrix,
    /// For each result, the reason why it would not even be tried, if there is one.
    held_back: Vec<Option<RunMergeOutcome>>,
    /// The changes that are merged elsewhere, as sentences.
    pub notes: Vec<String>,
    /// Runs that were asked for and have no result.
    pub without: Vec<NoResult>,
}

impl<'a> Fit<'a> {
    /// Compares results with a checkout as it is now, with its uncommitted changes. Nothing is
    /// changed.
    pub fn of(checkout: &Repository, results: &'a [RunResult]) -> Result<Self, CommandError> {
        let changes: Vec<Change> = results.iter().map(|result| result.change.clone()).collect();
        let matrix = Matrix::of(checkout, &changes).map_err(|error| failed(&error))?;
        let held_back = results
            .iter()
            .map(|result| held_back(result, HeldBackFiles::Refused));
        let held_back = held_back.collect::<Result<Vec<_>, _>>();
        Ok(Self {
            results,
            labels: labels(results.iter().map(|result| &result.run)),
            matrix,
            held_back: held_back.map_err(|error| failed(&error))?,
            notes: notes(checkout, results.iter()),
            without: Vec::new(),
        })
    }

    /// Adds the runs that were asked for and have no result.
    pub fn with_missing(mut self, without: Vec<NoResult>) -> Self {
        self.without = without;
        self
    }

    /// Returns whether all runs that were asked for can be merged, one after the other.
    pub fn is_clean(&self) -> bool {
        self.fits_all() && self.without.is_empty()
    }

    /// Returns whether all results that there are can be merged.
    pub fn fits_all(&self) -> bool {
        self.matrix.is_clean() && self.held_back.iter().all(Option::is_none)
    }

    /// Returns whether one of them, by its place, can be merged into the checkout as it is now.
    pub fn fits(&self, row: usize) -> bool {
        let fits = self.matrix.checkout.get(row).is_some_and(Vec::is_empty);
        fits && self.held_back.get(row).is_some_and(Option::is_none)
    }

    /// Returns how many of the results a merge in this order would bring into the checkout, and of
    /// how many runs that were asked for.
    pub fn would_merge(&self) -> (usize, usize) {
        let mut merged: Vec<usize> = Vec::new();
        for row in 0..self.results.len() {
            let mut earlier = merged.iter();
            let fits_them = earlier.all(|earlier| self.matrix.pairs[*earlier][row].is_empty());
            if fits_them && self.fits(row) {
                merged.push(row);
            }
        }
        (merged.len(), self.results.len() + self.without.len())
    }

    /// Returns what a result conflicts with in the checkout, by its place among the results.
    pub fn with_checkout(&self, place: usize) -> &[Conflict] {
        self.matrix.checkout.get(place).map_or(&[], Vec::as_slice)
    }

    /// Draws the matrix.
    pub fn table(&self) -> String {
        matrix_table(&self.labels, &self.matrix)
    }

    /// Draws the matrix for a place where the conflicts are named below it.
    pub fn small_table(&self) -> String {
        small_table(&self.labels, &self.matrix)
    }

    /// Names all conflicts, a line for each run and the checkout, and for each pair of runs.
    pub fn conflict_lines(&self) -> Vec<String> {
        let lines = self.clashing().map(|(row, column, conflicts)| {
            let name = &self.labels[row];
            match column.map(|column| &self.labels[column]) {
                Some(other) => {
                    let place = |conflict: &Conflict| place_in_both(conflict, name, other);
                    conflict_line(name, other, conflicts, place)
                }
                None => conflict_line(name, "this checkout", conflicts, place),
            }
        });
        lines.collect()
    }

    /// Names the runs that would not be tried and those that were not compared, a line for each.
    pub fn missing_lines(&self) -> Vec<String> {
        let both = self.labels.iter().zip(&self.held_back);
        let held_back = both.filter_map(|(label, why)| Some(outcome_line(label, why.as_ref()?)));
        let without = self.without.iter().map(NoResult::line);
        held_back.chain(without).collect()
    }

    /// Returns each run with the run that it conflicts with, or with nothing for the checkout. Each
    /// pair comes once.
    pub fn clashes(&self) -> impl Iterator<Item = (&IndexedRun, Option<&IndexedRun>, &[Conflict])> {
        let run = |place: usize| &self.results[place].run;
        self.clashing()
            .map(move |(row, column, conflicts)| (run(row), column.map(run), conflicts))
    }

    /// Returns the same by the places of the runs.
    fn clashing(&self) -> impl Iterator<Item = (usize, Option<usize>, &[Conflict])> {
        let found = (0..self.results.len()).flat_map(move |row| {
            let with_checkout = (row, None, self.matrix.checkout[row].as_slice());
            let others = row + 1..self.results.len();
            let others = others.map(move |column| {
                let conflicts = self.matrix.pairs[row][column].as_slice();
                (row, Some(column), conflicts)
            });
            std::iter::once(with_checkout).chain(others)
        });
        found.filter(|(_, _, conflicts)| !conflicts.is_empty())
    }

    /// Describes the same for programs.
    pub fn printed(&self) -> PrintedFit<'_> {
        PrintedFit {
            clean: self.is_clean(),
            results: (0..self.results.len()).map(|row| self.row(row)).collect(),
            warnings: &self.notes,
            without_result: self.without.iter().map(NoResult::printed).collect(),
        }
    }

    fn row(&self, row: usize) -> FittingResult<'_> {
        let run = &self.results[row].run;
        let others = self.results.iter().enumerate();
        let others = others.filter(|(column, _)| *column != row);
        let others = others.map(|(column, other)| OtherResult {
            run_id: &other.run.run,
            conflicts: PrintedConflict::all(&self.matrix.pairs[row][column]),
        });
        let held_back = self.held_back[row].as_ref().map(PrintedOutcome::of);
        FittingResult {
            run_id: &run.run,
            name: &run.name,
            checkout: PrintedConflict::all(&self.matrix.checkout[row]),
            others: others.collect(),
            held_back: held_back.unwrap_or_default(),
        }
    }
}

/// Names the conflicts of a run with something else.
fn conflict_line(
    name: &str,
    other: &str,
    conflicts: &[Conflict],
    place: impl Fn(&Conflict) -> String,
) -> String {
    let named = first_of(conflicts.iter().map(place), MOST_NAMED, "; ");
    format!("✗ {name} and {other}: {named}")
}
