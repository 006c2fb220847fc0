//! The JSON of `clean`.

use serde_json::{Value, json};

use super::report::{Report, Tense};

/// Returns the report for a program.
pub(super) fn of(report: &Report<'_>) -> Value {
    let removed: Vec<Value> = report
        .swept
        .removed
        .iter()
        .map(|going| {
            let run = &going.run;
            json!({
                "runId": run.run.as_str(),
                "sessionId": run.session.as_str(),
                "name": run.name,
                "project": run.project,
                "bytes": going.bytes,
            })
        })
        .collect();
    let kept: Vec<Value> = report
        .swept
        .kept
        .iter()
        .map(|kept| {
            json!({
                "runId": kept.run.run.as_str(),
                "sessionId": kept.run.session.as_str(),
                "name": kept.run.name,
                "project": kept.run.project,
                "reason": kept.reason.as_str(),
                "message": kept.reason.sentence(),
            })
        })
        .collect();
    let total = report.total();
    json!({
        "dryRun": report.tense == Tense::Would,
        "runs": total.runs,
        "bytes": total.bytes,
        "removed": removed,
        "kept": kept,
        "sessionFiles": report.sessions.removed.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "lockedSessionFiles": report.sessions.locked,
        "problems": report.problems().collect::<Vec<_>>(),
    })
}
