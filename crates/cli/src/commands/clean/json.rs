//! The JSON of `clean`.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{RunId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;

use super::report::{Report, Tense};

/// The JSON of `clean`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CleanResult<'a> {
    /// True if nothing was removed, because `--dry-run` was given.
    dry_run: bool,
    /// The size of everything that is removed.
    bytes: u64,
    removed: Vec<RemovedRecord<'a>>,
    kept: Vec<KeptRecord<'a>>,
    /// The files of sticky sessions that are removed.
    session_files: Vec<&'a Path>,
    /// The files of sticky sessions that are in use.
    locked_session_files: Vec<&'a Path>,
    /// What could not be removed, as sentences.
    problems: Vec<String>,
}

/// A run whose record is removed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RemovedRecord<'a> {
    run_id: &'a RunId,
    session_id: &'a SessionId,
    name: &'a str,
    project: &'a Path,
    bytes: u64,
}

/// A run whose record stays.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeptRecord<'a> {
    run_id: &'a RunId,
    session_id: &'a SessionId,
    name: &'a str,
    project: &'a Path,
    /// The reason in one word.
    reason: &'a str,
    /// The reason in a sentence.
    message: String,
}

/// Returns the report for a program.
pub(super) fn of<'a>(report: &'a Report<'_>) -> CleanResult<'a> {
    let removed = report
        .cleaned
        .runs
        .removed
        .iter()
        .map(|going| RemovedRecord {
            run_id: &going.run.run,
            session_id: &going.run.session,
            name: &going.run.name,
            project: &going.run.project,
            bytes: going.bytes,
        });
    let kept = report.cleaned.runs.kept.iter().map(|kept| KeptRecord {
        run_id: &kept.run.run,
        session_id: &kept.run.session,
        name: &kept.run.name,
        project: &kept.run.project,
        reason: kept.reason.as_str(),
        message: kept.reason.sentence(),
    });
    let files = report.cleaned.sessions.removed.iter();
    CleanResult {
        dry_run: report.tense == Tense::Would,
        bytes: report.total().bytes,
        removed: removed.collect(),
        kept: kept.collect(),
        session_files: files.map(|file| file.path.as_path()).collect(),
        locked_session_files: report
            .cleaned
            .sessions
            .locked
            .iter()
            .map(PathBuf::as_path)
            .collect(),
        problems: report.problems().cloned().collect(),
    }
}
