//! The promises that must hold after a round.

use std::fmt;
use std::fs;

use pi_subagents_testkit::sandbox::CommandOutput;
use serde_json::Value;

use crate::census::{Name, described};
use crate::record::{RunFiles, ends_in_index, runs};
use crate::round::{Blow, FaultKind, Role, Round};
use crate::stage::Stage;
use crate::words::words_in;

/// Something that does not hold.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    message: String,
}

/// The promise that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailureKind {
    /// A process lives after the next command.
    Lives,
    /// A run has no ending, or several.
    Ending,
    /// A word of a child is not in the record.
    Words,
    /// A checkout, or a repository, is neither as before nor as after.
    Torn,
    /// What a child has made is neither in its result nor in its directory.
    Result,
    /// Something took too long.
    Hang,
    /// Our program panicked.
    Panic,
    /// The next command does not work.
    NextCommand,
    /// The suite could not do its own work.
    Suite,
}

impl FailureKind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Lives,
        Self::Ending,
        Self::Words,
        Self::Torn,
        Self::Result,
        Self::Hang,
        Self::Panic,
        Self::NextCommand,
        Self::Suite,
    ];
}

/// The facts that are known after a round.
pub(crate) struct Evidence<'a> {
    pub(crate) round: &'a Round,
    pub(crate) stage: &'a Stage,
    /// The next command; `None` if it hung.
    pub(crate) status: Option<CommandOutput>,
    pub(crate) left: Vec<Name>,
    pub(crate) printed: Vec<String>,
    /// Each run with the output of `session` about it.
    pub(crate) shown: Vec<(RunFiles, Option<CommandOutput>)>,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: String) -> Self {
        Self { kind, message }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.message)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lives => "a process lives",
            Self::Ending => "not one ending",
            Self::Words => "a message is lost",
            Self::Torn => "a checkout is torn",
            Self::Result => "a result is lost",
            Self::Hang => "a hang",
            Self::Panic => "a panic",
            Self::NextCommand => "the next command fails",
            Self::Suite => "the suite itself fails",
        })
    }
}

/// Returns everything that does not hold.
pub(crate) fn check(evidence: &Evidence<'_>) -> Vec<Failure> {
    let mut failures = Vec::new();
    failures.extend(processes(evidence));
    failures.extend(next_command(evidence));
    failures.extend(panics(evidence));
    if !evidence.round.damages_record() {
        failures.extend(endings(evidence));
        failures.extend(messages(evidence));
    }
    failures
}

fn processes(evidence: &Evidence<'_>) -> Option<Failure> {
    if evidence.left.is_empty() {
        return None;
    }
    let left: Vec<String> = evidence.left.iter().map(|name| described(*name)).collect();
    Some(Failure::new(FailureKind::Lives, left.join(" | ")))
}

fn next_command(evidence: &Evidence<'_>) -> Option<Failure> {
    let output = evidence.status.as_ref()?;
    let is_whole = serde_json::from_str::<Value>(&output.stdout).is_ok();
    if output.code == Some(0) && is_whole {
        return None;
    }
    let message = format!("status --all --json: {output}");
    Some(Failure::new(FailureKind::NextCommand, message))
}

fn panics(evidence: &Evidence<'_>) -> Vec<Failure> {
    let mut texts = evidence.printed.clone();
    let commands = evidence
        .shown
        .iter()
        .filter_map(|(_, output)| output.as_ref());
    texts.extend(
        commands
            .chain(evidence.status.as_ref())
            .map(|output| output.stderr.clone()),
    );
    for run in runs(&evidence.stage.sandbox) {
        for log in ["stderr.log", "owner.log"] {
            texts.extend(fs::read_to_string(run.directory.join(log)));
        }
    }
    let panic = |text: &String| {
        let at = text.find("panicked at")?;
        let around: String = text[at..].chars().take(300).collect();
        Some(Failure::new(FailureKind::Panic, around))
    };
    texts.iter().filter_map(panic).collect()
}

/// Checks that each run has a result, one ending in its events and one in the index, and that
/// `status` knows it.
fn endings(evidence: &Evidence<'_>) -> Vec<Failure> {
    let status: Value = evidence
        .status
        .as_ref()
        .and_then(|output| serde_json::from_str(&output.stdout).ok())
        .unwrap_or_default();
    let rows = status["runs"].as_array().cloned().unwrap_or_default();
    let mut failures = Vec::new();
    for run in runs(&evidence.stage.sandbox) {
        let mut wrong = Vec::new();
        if run.result().is_none() {
            wrong.push("no result.json".to_owned());
        }
        let told = run.endings();
        if told != 1 {
            wrong.push(format!("{told} endings in events.jsonl"));
        }
        let indexed = ends_in_index(&evidence.stage.sandbox, run.id());
        if indexed != 1 {
            wrong.push(format!("{indexed} ends in the index"));
        }
        let row = rows.iter().find(|row| row["runId"] == run.id());
        match row.map(|row| row["status"].as_str().unwrap_or_default()) {
            None => wrong.push("no row in status".to_owned()),
            Some("completed" | "failed" | "stopped") => {}
            Some(other) => wrong.push(format!("status calls it {other}")),
        }
        if !wrong.is_empty() {
            let message = format!("{}: {}", run.id(), wrong.join(", "));
            failures.push(Failure::new(FailureKind::Ending, message));
        }
    }
    failures
}

/// Checks that every message of the child's own session is in the output of `session`.
fn messages(evidence: &Evidence<'_>) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (run, output) in &evidence.shown {
        let Some(output) = output else { continue };
        if output.code != Some(0) {
            let message = format!("session {}: {output}", run.session());
            failures.push(Failure::new(FailureKind::NextCommand, message));
            continue;
        }
        let shown = words_in(&output.stdout);
        let mut missing: Vec<String> = run.model_words();
        if may_lose_last(evidence.round) {
            missing.pop();
        }
        missing.retain(|word| !shown.contains(word));
        if !missing.is_empty() {
            let message = format!("{}: {}", run.id(), missing.join(" "));
            failures.push(Failure::new(FailureKind::Words, message));
        }
    }
    failures
}

/// Returns whether the last message may be missing: a child that is killed may have written its
/// last message down and not yet printed it.
fn may_lose_last(round: &Round) -> bool {
    !round.strikes(Blow::Kill, Role::Owner)
        && !round
            .faults
            .iter()
            .any(|fault| fault.kind == FaultKind::AllOfUs)
}
