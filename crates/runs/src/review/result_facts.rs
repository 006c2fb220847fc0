//! The facts about a result that the order of the queue is made of: from its record, its receipt, its
//! files, and the conflicts with the checkout and other results.

use std::path::Path;

use pi_subagents_git::{
    Conflict, Matrix, Repository, changes, commits_of, marked_files, moved_submodules,
};
use pi_subagents_records::{IndexedRun, RecordedRun, RunDir};
use pi_subagents_vocabulary::review::{
    AnswerRecord, ResultFacts, RunClash, TouchedPath, unseen_claims,
};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Ending, Gate, Receipt, RunId, RunReport, Status};

use super::later::ReviewNote;
use super::stacked_facts::compare_on_top;
use crate::results::{RunResult, failed};
use crate::row::RunRow;
use crate::workspace::{WorkspaceFile, place};
use pi_subagents_ground::error::CommandError;

/// If a run has made so many commits, those that its answer names are not looked for.
const MOST_COMMITS: usize = 1000;

/// Finds the facts about results that were compared with the checkout and each other.
pub(super) fn facts_of_all(
    checkout: &Repository,
    results: &[RunResult],
    rows: &[RunRow],
    matrix: &Matrix,
) -> Result<Vec<ResultFacts>, CommandError> {
    let has_submodules = checkout.top().join(".gitmodules").exists();
    let mut all = Vec::new();
    for (place, (result, row)) in results.iter().zip(rows).enumerate() {
        let mut facts = facts_of(result, row)?;
        let moved = if has_submodules {
            moved_submodules(&result.repository, &result.change).map_err(|error| failed(&error))?
        } else {
            Vec::new()
        };
        for file in &mut facts.files {
            file.is_submodule = moved
                .iter()
                .any(|path| path.display().to_string() == file.path);
        }
        let (blocking, clashing) =
            (matrix.checkout[place].iter()).partition(|one| one.is_in_the_way());
        facts.in_the_way = paths(blocking);
        facts.checkout_conflicts = places(clashing);
        all.push(facts);
    }
    for place in 0..all.len() {
        all[place].clashes = clashes(place, results, matrix, &all);
    }
    compare_on_top(checkout, results, &mut all)?;
    Ok(all)
}

pub(super) fn paths(conflicts: Vec<&Conflict>) -> Vec<String> {
    let shown = conflicts
        .into_iter()
        .map(|one| one_line(&one.path.display().to_string()));
    shown.collect()
}

pub(super) fn places(conflicts: Vec<&Conflict>) -> Vec<String> {
    conflicts.into_iter().map(place).collect()
}

/// Lists the results with which one conflicts, in files that both change: one that was merged with the
/// checkout as it is now differs from an older one in files of the person too.
fn clashes(
    own: usize,
    results: &[RunResult],
    matrix: &Matrix,
    all: &[ResultFacts],
) -> Vec<RunClash> {
    let others = results
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != own);
    let clashing = others.filter_map(|(other, result)| {
        let of_both =
            |one: &&Conflict| touches(&all[own], &one.path) && touches(&all[other], &one.path);
        let conflicts: Vec<&Conflict> = matrix.pairs[own][other].iter().filter(of_both).collect();
        (!conflicts.is_empty()).then(|| RunClash {
            with: result.run.run.clone(),
            name: result.run.name.clone(),
            places: places(conflicts),
        })
    });
    clashing.collect()
}

/// Returns whether a result changes a file, or one below or above it.
fn touches(facts: &ResultFacts, path: &Path) -> bool {
    facts.files.iter().any(|file| {
        let paths = [Some(&file.path), file.from.as_ref()];
        let mut paths = paths.into_iter().flatten().map(Path::new);
        paths.any(|own| own.starts_with(path) || path.starts_with(own))
    })
}

/// Finds the facts that one result has by itself.
fn facts_of(result: &RunResult, row: &RunRow) -> Result<ResultFacts, CommandError> {
    let report = &row.report;
    let receipt = report.receipt.as_deref().cloned().unwrap_or_default();
    let marked =
        marked_files(&result.repository, &result.change).map_err(|error| failed(&error))?;
    let workspace = result.workspace.as_ref();
    let note = ReviewNote::read(&result.run.directory);
    Ok(ResultFacts {
        run: result.run.run.clone(),
        name: result.run.name.clone(),
        task: report.task.clone().unwrap_or_default(),
        files: files_of(result)?,
        is_completed: report.status == Status::Completed,
        failed_gate: failed_gate(report),
        unseen: unseen(result, report, &receipt),
        receipt,
        checkout_conflicts: Vec::new(),
        in_the_way: Vec::new(),
        marked: marked
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        copies: workspace.map_or_else(Vec::new, |workspace| {
            let copies = workspace.added_copies.iter();
            copies.map(|path| path.display().to_string()).collect()
        }),
        clashes: Vec::new(),
        needs: note
            .on
            .iter()
            .filter_map(|run| RunId::parse(run).ok())
            .collect(),
        checkout_changed: workspace.is_some_and(|workspace| !workspace.checkout_changed.is_empty()),
        sandbox: Some(report.sandbox),
        sent_back: note.sent_back + sent_back_before(result),
    })
}

/// Returns how often the earlier runs of its session in the same worktree were sent back.
fn sent_back_before(result: &RunResult) -> usize {
    let earlier = result.earlier.iter();
    let notes = earlier.map(|directory| ReviewNote::read(&RunDir::new(directory)));
    notes.map(|note| note.sent_back).sum()
}

fn files_of(result: &RunResult) -> Result<Vec<TouchedPath>, CommandError> {
    let kept = result
        .workspace
        .as_ref()
        .and_then(|workspace| workspace.left.as_ref());
    let is_same = kept.is_some_and(|left| left.result == result.change.result.as_str());
    if let Some(left) = kept.filter(|_| is_same) {
        return Ok(left.files.iter().map(touched).collect());
    }
    let (base, end) = (&result.change.base, &result.change.result);
    let files = changes(&result.repository, base, end).map_err(|error| failed(&error))?;
    Ok(files
        .iter()
        .map(|file| touched(&WorkspaceFile::of(file)))
        .collect())
}

fn touched(file: &WorkspaceFile) -> TouchedPath {
    TouchedPath {
        path: file.path.clone(),
        from: file.from.clone(),
        is_deleted: file.status == "deleted",
        is_submodule: false,
        added: file.added.unwrap_or_default(),
        removed: file.removed.unwrap_or_default(),
    }
}

fn failed_gate(report: &RunReport) -> Option<String> {
    match report.ending.as_deref()? {
        Ending::GateFailed {
            command, reason, ..
        } => Some(format!("{} → {reason}", one_line(command))),
        _ => None,
    }
}

fn unseen(result: &RunResult, report: &RunReport, receipt: &Receipt) -> Vec<String> {
    let answer = report.output.as_deref().unwrap_or_default();
    // Most answers name no commit, and then git is not asked. Without the commits none is compared.
    let commits = answer
        .contains("ommit")
        .then(|| commits_of(&result.repository, &result.change, MOST_COMMITS).ok())
        .flatten()
        .filter(|commits| commits.len() < MOST_COMMITS);
    unseen_claims(&AnswerRecord {
        answer,
        receipt,
        passed: &receipt.tests.passed,
        commits: commits.as_deref(),
        is_cut: !report.incomplete.is_empty() || report.receipt.is_none(),
    })
}

/// Returns the gates that the call of a run has set for it. A record that cannot be read names none,
/// and then the review needs its own.
pub(super) fn own_gates(run: &IndexedRun) -> Vec<Gate> {
    let recorded = RecordedRun::read(&run.directory).ok();
    let gates = recorded.and_then(|recorded| recorded.terms.gates);
    gates.unwrap_or_default()
}
