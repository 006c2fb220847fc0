//! Which runs fit a checkout and each other, for people and for programs.

use pi_subagents_workspaces::{Change, Conflict, Matrix, Repository};
use serde_json::{Value, json};

use super::name_of;
use crate::error::CommandError;
use crate::runs::results::{RunResult, failed};
use crate::runs::workspace::matrix_table;

/// Some results, compared with a checkout and with each other.
pub(crate) struct Fit<'a> {
    results: &'a [RunResult],
    matrix: Matrix,
}

impl<'a> Fit<'a> {
    /// Compares results with a checkout as it is now, with its uncommitted changes. Nothing is
    /// changed.
    pub(crate) fn of(
        checkout: &Repository,
        results: &'a [RunResult],
    ) -> Result<Self, CommandError> {
        let changes: Vec<Change> = results.iter().map(|result| result.change.clone()).collect();
        let matrix = Matrix::of(checkout, &changes).map_err(|error| failed(&error))?;
        Ok(Self { results, matrix })
    }

    /// Returns whether all of them can be merged, one after the other.
    pub(crate) fn is_clean(&self) -> bool {
        self.matrix.is_clean()
    }

    /// Draws the matrix.
    pub(crate) fn table(&self) -> String {
        let names: Vec<String> = self.results.iter().map(|one| name_of(&one.run)).collect();
        matrix_table(&names, &self.matrix)
    }

    /// Describes the same for programs.
    pub(crate) fn to_json(&self) -> Value {
        let numbered = self.results.iter().enumerate();
        let rows: Vec<Value> = numbered.map(|(row, _)| self.row(row)).collect();
        json!({ "clean": self.is_clean(), "runs": rows })
    }

    fn row(&self, row: usize) -> Value {
        let run = &self.results[row].run;
        let others = self.results.iter().enumerate();
        let others = others.filter(|(column, _)| *column != row);
        let others = others.map(|(column, other)| {
            json!({
                "runId": other.run.run.as_str(),
                "conflicts": conflicts_json(&self.matrix.pairs[row][column]),
            })
        });
        json!({
            "runId": run.run.as_str(),
            "name": run.name,
            "checkout": conflicts_json(&self.matrix.checkout[row]),
            "others": others.collect::<Vec<_>>(),
        })
    }
}

/// Describes conflicts for programs.
pub(super) fn conflicts_json(conflicts: &[Conflict]) -> Value {
    let described = conflicts.iter().map(|conflict| {
        json!({
            "path": conflict.path.display().to_string(),
            "kind": conflict.kind,
            "lines": conflict.lines,
        })
    });
    described.collect::<Vec<_>>().into()
}
