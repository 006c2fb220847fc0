//! Which runs fit the checkout and each other, as JSON.

use pi_subagents_workspaces::{Conflict, Matrix};
use serde_json::{Value, json};

use crate::runs::results::RunResult;

/// Describes the same for programs.
pub(super) fn to_json(results: &[RunResult], matrix: &Matrix) -> Value {
    let rows = results.iter().enumerate().map(|(row, result)| {
        let pairs = results
            .iter()
            .enumerate()
            .filter(|(column, _)| *column != row);
        let pairs = pairs.map(|(column, other)| {
            json!({
                "runId": other.run.run.as_str(),
                "conflicts": conflicts_json(&matrix.pairs[row][column]),
            })
        });
        json!({
            "runId": result.run.run.as_str(),
            "name": result.run.name,
            "checkout": conflicts_json(&matrix.checkout[row]),
            "others": pairs.collect::<Vec<_>>(),
        })
    });
    json!({ "clean": matrix.is_clean(), "runs": rows.collect::<Vec<_>>() })
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
