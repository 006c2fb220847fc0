//! What became of each result, for people and for programs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pi_subagents_git::FileChange;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::{FailedGate, RiskReason};
use pi_subagents_vocabulary::text::{aligned, count, first_of, one_line};
use schemars::JsonSchema;
use serde::Serialize;

use super::queue::{ReviewQueue, WaitingResult};
use crate::workspace::{PartsLeft, WorkspaceFile, files_words};

/// At most so many names or places are in a line.
const MOST_NAMED: usize = 3;

/// What became of the results of a review.
#[derive(Debug, Default)]
pub struct AcceptReport {
    pub results: Vec<ReviewedResult>,
    /// The files that have changed in the checkout.
    pub(super) landed: LandedFiles,
    /// The id of the landing, if anything landed.
    pub(super) landing: Option<String>,
    /// The number of uncommitted files that the person had.
    pub(super) uncommitted: usize,
    /// The number of times that a gate was run.
    pub gate_runs: usize,
    /// The sandbox in which gates were run, if a result was made in one.
    pub(super) gate_sandbox: Option<String>,
    /// Files that gates have written and that were not taken.
    pub(super) written: BTreeSet<PathBuf>,
    /// The number of questions, limits and failures that wait beside the results.
    pub others: usize,
    pub warnings: Vec<String>,
}

/// The files of a landing.
#[derive(Debug, Default)]
pub(super) struct LandedFiles(Vec<WorkspaceFile>);

impl LandedFiles {
    pub(super) fn of(files: &[FileChange]) -> Self {
        Self(files.iter().map(WorkspaceFile::of).collect())
    }
}

/// A result with its fate.
#[derive(Debug, Clone)]
pub struct ReviewedResult {
    pub run: RunId,
    pub name: String,
    pub fate: Fate,
    /// What waits of it, if a part was taken.
    pub left: Option<PartsLeft>,
}

/// The fate of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is in the checkout.
    Taken,
    /// A gate failed on it, together with these results that were accepted before it.
    Red {
        command: String,
        code: i32,
        output: String,
        with: Vec<String>,
        is_green_alone: Option<bool>,
    },
    /// It conflicts with what was accepted: these results, or the checkout if none is named.
    Conflict {
        with: Vec<String>,
        places: Vec<String>,
    },
    /// The person has changed the same places since the review began.
    ChangedMeanwhile { places: Vec<String> },
    /// It was left to a person, for these reasons.
    NotTried(Vec<RiskReason>),
}

impl Fate {
    /// Returns the gate that failed, if one did.
    pub(super) fn failed_gate(&self) -> Option<FailedGate> {
        match self {
            Self::Red {
                command,
                code,
                output,
                with,
                is_green_alone: _,
            } => Some(FailedGate {
                command: command.clone(),
                code: *code,
                output: output.clone(),
                with: with.clone(),
            }),
            Self::Taken
            | Self::Conflict { .. }
            | Self::ChangedMeanwhile { .. }
            | Self::NotTried(_) => None,
        }
    }
}

/// The JSON of `review --accept-all`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedAccept<'a> {
    /// The number of results that are in the checkout now.
    taken: usize,
    /// The results, in the order in which they were proposed.
    results: Vec<PrintedFate<'a>>,
    /// The files that have changed in the checkout.
    files: &'a [WorkspaceFile],
    /// The id of the landing, if anything landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    landing: Option<&'a str>,
    /// The number of times that a gate was run.
    gate_runs: usize,
    /// The sandbox in which gates were run, if a result was made in one: its level and its network.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate_sandbox: Option<&'a str>,
    /// Files that gates have written and that were not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written_by_gates: Vec<String>,
    /// Sentences about what could not be tidied up, and about earlier reviews.
    warnings: &'a [String],
}

/// What became of a result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedFate<'a> {
    run_id: &'a RunId,
    name: &'a str,
    fate: FateKind,
    /// The gate that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The last lines of its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    /// The results together with which the gate failed, or with which it conflicts.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    with: &'a [String],
    /// True if the gate passes on it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    green_alone: Option<bool>,
    /// The places of conflicts.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    places: &'a [String],
    /// The reasons why it is left to a person.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reasons: &'a [RiskReason],
    /// The parts that wait, if some were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    remainder: Option<PartsLeft>,
}

/// The fates of a result, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum FateKind {
    /// It is in the checkout.
    Taken,
    /// A gate failed on it.
    Red,
    /// It conflicts with the checkout or with a result that was taken.
    Conflict,
    /// The person has changed the same places meanwhile.
    ChangedMeanwhile,
    /// It was left to a person.
    NotTried,
}

impl ReviewedResult {
    pub(super) fn of(waiting: &WaitingResult, fate: Fate) -> Self {
        Self {
            run: waiting.facts.run.clone(),
            name: waiting.facts.name.clone(),
            fate,
            left: None,
        }
    }

    fn row(&self) -> Vec<String> {
        let [mark, word, words] = match &self.fate {
            Fate::Taken => ["✓".into(), "taken".into(), self.left_words()],
            Fate::Red { .. } | Fate::Conflict { .. } | Fate::ChangedMeanwhile { .. } => {
                ["✗".into(), "left out".into(), self.fate.words()]
            }
            Fate::NotTried(_) => ["–".into(), "not tried".into(), self.fate.words()],
        };
        vec![mark + " " + &one_line(&self.name), word, words]
    }

    /// Says how much of it waits.
    fn left_words(&self) -> String {
        self.left.map_or_else(String::new, PartsLeft::words)
    }

    fn printed(&self) -> PrintedFate<'_> {
        let plain = PrintedFate {
            run_id: &self.run,
            name: &self.name,
            fate: FateKind::Taken,
            gate: None,
            exit_code: None,
            output: None,
            with: &[],
            green_alone: None,
            places: &[],
            reasons: &[],
            remainder: self.left,
        };
        match &self.fate {
            Fate::Taken => plain,
            Fate::Red {
                command,
                code,
                output,
                with,
                is_green_alone,
            } => PrintedFate {
                fate: FateKind::Red,
                gate: Some(command),
                exit_code: Some(*code),
                output: Some(output),
                with,
                green_alone: *is_green_alone,
                ..plain
            },
            Fate::Conflict { with, places } => PrintedFate {
                fate: FateKind::Conflict,
                with,
                places,
                ..plain
            },
            Fate::ChangedMeanwhile { places } => PrintedFate {
                fate: FateKind::ChangedMeanwhile,
                places,
                ..plain
            },
            Fate::NotTried(reasons) => PrintedFate {
                fate: FateKind::NotTried,
                reasons,
                ..plain
            },
        }
    }
}

impl Fate {
    /// Says why a result is not in the checkout.
    pub fn words(&self) -> String {
        let names =
            |names: &[String]| first_of(names.iter().map(|name| one_line(name)), MOST_NAMED, ", ");
        match self {
            Self::Taken => String::new(),
            Self::Red {
                command,
                code,
                with,
                is_green_alone,
                ..
            } => {
                let failed = format!("{} → {code}", one_line(command));
                if with.is_empty() || *is_green_alone != Some(true) {
                    return failed;
                }
                let with = names(with);
                format!("{failed}; passes alone; fails together with {with}")
            }
            Self::Conflict { with, places } if with.is_empty() => {
                format!("conflicts with your checkout in {}", names(places))
            }
            Self::Conflict { with, places } => {
                format!("conflicts with {} in {}", names(with), names(places))
            }
            Self::ChangedMeanwhile { places } => {
                format!("you changed {} meanwhile", names(places))
            }
            Self::NotTried(reasons) => {
                let reasons = reasons.iter().map(|reason| one_line(&reason.words));
                first_of(reasons, MOST_NAMED, "; ")
            }
        }
    }
}

impl AcceptReport {
    /// Returns how many results are in the checkout now.
    pub fn taken(&self) -> usize {
        let taken = self.results.iter().filter(|one| one.fate == Fate::Taken);
        taken.count()
    }

    /// Puts the results into the order of the queue.
    pub(super) fn in_order_of(&mut self, queue: &ReviewQueue) {
        let place = |run: &RunId| queue.results.iter().position(|one| one.facts.run == *run);
        self.results.sort_by_key(|one| place(&one.run));
    }

    /// Says what became of each result, and how to take it back.
    pub fn lines(&self) -> Vec<String> {
        let rows: Vec<Vec<String>> = self.results.iter().map(ReviewedResult::row).collect();
        let mut lines = vec![aligned(&rows)];
        if self.landing.is_some() {
            let files = files_words(&self.landed.0);
            let taken = count(self.taken(), "result");
            let kept = match self.uncommitted {
                0 => String::new(),
                number => format!("; your {} are kept", count(number, "uncommitted file")),
            };
            lines.push(format!("{taken} in one step: {files}{kept}"));
        } else {
            lines.push("nothing was taken; the checkout is as it was".to_owned());
        }
        lines
    }

    /// Says the same in one sentence, for a screen.
    pub fn sentence(&self) -> String {
        let out = self.results.iter().filter(|one| one.fate != Fate::Taken);
        let out = out.map(|one| format!("{}: {}", one_line(&one.name), one.fate.words()));
        let out: Vec<String> = out.collect();
        let taken = count(self.taken(), "result");
        let parts = self.results.iter().filter(|one| one.left.is_some());
        let parts = parts.map(|one| format!("; {}: {}", one_line(&one.name), one.left_words()));
        let parts: String = parts.collect();
        if out.is_empty() {
            return format!("{taken} taken{parts}");
        }
        let out = first_of(out, MOST_NAMED, "; ");
        format!("{taken} taken{parts}; left out: {out}")
    }

    /// Says what somebody may want to know beside it.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.written.is_empty() {
            let files = self
                .written
                .iter()
                .map(|path| one_line(&path.display().to_string()));
            let files: Vec<String> = files.collect();
            let files = first_of(files, MOST_NAMED, ", ");
            notes.push(format!("the gate changed {files}; that was not taken"));
        }
        notes.extend(self.warnings.iter().cloned());
        notes
    }

    /// Describes the same for programs.
    pub fn printed(&self) -> PrintedAccept<'_> {
        let written = self.written.iter().map(|path| path.display().to_string());
        PrintedAccept {
            taken: self.taken(),
            results: self.results.iter().map(ReviewedResult::printed).collect(),
            files: &self.landed.0,
            landing: self.landing.as_deref(),
            gate_runs: self.gate_runs,
            gate_sandbox: self.gate_sandbox.as_deref(),
            written_by_gates: written.collect(),
            warnings: &self.warnings,
        }
    }
}
