//! The queue for programs and for a pipe.

use std::time::Duration;

use pi_subagents_view::figures::ago;
use pi_subagents_vocabulary::review::{RiskReason, RiskTier};
use pi_subagents_vocabulary::text::{aligned, cut_characters, one_line};
use pi_subagents_vocabulary::{Question, RunId, Status, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::attempts::OtherAttempt;
use super::queue::{ReviewQueue, WaitingResult};
use super::waiting_runs::{PausedRun, StopKind, StoppedRun};
use crate::workspace::PartsLeft;

/// At most so many characters of a sentence are in a line.
const LONGEST: usize = 160;

/// The JSON of `review`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedQueue {
    /// All that waits, in the order in which it is proposed.
    waiting: Vec<PrintedWaiting>,
}

/// Something that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedWaiting {
    run_id: RunId,
    /// The name of the task.
    name: String,
    kind: WaitingKind,
    /// The time since which it waits.
    #[schemars(with = "String", extend("format" = "date-time"))]
    since: Timestamp,
    /// True if somebody wants to look at it later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    later: bool,
    /// The question, or the reason why the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What its budgets would get, if it continues as soon as somebody raises them.
    #[serde(skip_serializing_if = "Option::is_none")]
    raise: Option<String>,
    /// The question, with the form of its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Question>,
    /// The changes, if there are any.
    #[serde(flatten)]
    change: Option<PrintedChange>,
}

/// The kinds of what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum WaitingKind {
    /// A sub-agent asks something.
    Question,
    /// A run is at its limit.
    Limit,
    /// A result has changes that nobody has taken.
    Change,
    /// A run failed.
    Failure,
    /// A result waits and cannot be found.
    Unreachable,
}

impl WaitingKind {
    fn word(self) -> &'static str {
        match self {
            Self::Question => "asks",
            Self::Limit => "limit",
            Self::Change => "change",
            Self::Failure => "failed",
            Self::Unreachable => "lost",
        }
    }
}

/// The changes of a result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedChange {
    /// The place among the results, from 1.
    order: usize,
    /// The state of the run.
    status: Status,
    tier: RiskTier,
    /// The reasons to look at it, weightiest first.
    reasons: Vec<RiskReason>,
    /// The number of files.
    files: usize,
    /// The number of lines that were added.
    added: u64,
    /// The number of lines that were taken out.
    removed: u64,
    /// The gates that its call has set: commands that must pass before it is accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gates: Vec<String>,
    /// The state that the run began from.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<PrintedBase>,
    /// The parts that wait, if others were accepted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    remainder: Option<PartsLeft>,
    /// The other attempts at its task, before which it was picked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_attempts: Vec<OtherAttempt>,
    /// The names of the results on which it stands, and that wait too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stands_on: Vec<String>,
    /// The conflicts with the checkout.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts_with_checkout: Vec<String>,
    /// The conflicts with other results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<PrintedClash>,
}

/// The state that a run began from.
#[derive(Debug, Serialize, JsonSchema)]
struct PrintedBase {
    /// The commit of that state.
    commit: String,
    /// The number of files in it that were not committed.
    uncommitted: usize,
}

/// The conflicts with another result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedClash {
    run_id: RunId,
    name: String,
    /// The places, in the files of this result.
    places: Vec<String>,
}

impl ReviewQueue {
    /// Describes it for programs.
    pub fn printed(&self) -> PrintedQueue {
        let results = self.results.iter().enumerate();
        let changes = results.map(|(place, one)| PrintedWaiting::of_result(one, place + 1));
        let questions = self.questions.iter().map(|asked| PrintedWaiting {
            run_id: asked.run.clone(),
            name: asked.name.clone(),
            kind: WaitingKind::Question,
            since: asked.asked.asked_at,
            later: false,
            message: Some(asked.question.clone()),
            raise: None,
            question: Some(asked.asked.clone()),
            change: None,
        });
        let unreachable = self.unreachable.iter().map(|without| PrintedWaiting {
            run_id: without.run.run.clone(),
            name: without.run.name.clone(),
            kind: WaitingKind::Unreachable,
            since: without.run.accepted_at,
            later: false,
            message: Some(without.why()),
            raise: None,
            question: None,
            change: None,
        });
        let all = questions
            .chain(self.limits.iter().map(PrintedWaiting::of_stopped))
            .chain(changes)
            .chain(self.failures.iter().map(PrintedWaiting::of_stopped))
            .chain(unreachable);
        PrintedQueue {
            waiting: all.collect(),
        }
    }

    /// Lists it for a pipe: a line for each, with the kind or the tier first.
    pub fn lines(&self, now: Timestamp) -> String {
        let printed = self.printed();
        let rows = printed.waiting.iter().map(|one| one.row(now));
        aligned(&rows.collect::<Vec<_>>())
    }
}

impl PrintedWaiting {
    fn of_result(one: &WaitingResult, order: usize) -> Self {
        let [added, removed] = one.lines();
        let workspace = one.result.workspace.as_ref();
        let base = workspace.and_then(|workspace| workspace.base.as_ref());
        let facts = &one.facts;
        let in_the_way = facts.in_the_way.iter();
        let conflicts = facts.clashes.iter().map(|clash| PrintedClash {
            run_id: clash.with.clone(),
            name: clash.name.clone(),
            places: clash.places.clone(),
        });
        Self {
            run_id: facts.run.clone(),
            name: facts.name.clone(),
            kind: WaitingKind::Change,
            since: one.at,
            later: one.note.is_later,
            message: one.row.report.error_message.clone(),
            raise: None,
            question: None,
            change: Some(PrintedChange {
                order,
                status: one.row.report.status,
                tier: one.tier,
                reasons: one.reasons.clone(),
                files: facts.files.len(),
                added,
                removed,
                gates: one.gates.clone(),
                base: base.map(|base| PrintedBase {
                    commit: base.commit.clone(),
                    uncommitted: base.uncommitted,
                }),
                remainder: workspace.and_then(|workspace| workspace.parts),
                other_attempts: one.other_attempts.clone(),
                stands_on: one.stands_on.clone(),
                conflicts_with_checkout: facts
                    .checkout_conflicts
                    .iter()
                    .chain(in_the_way)
                    .cloned()
                    .collect(),
                conflicts: conflicts.collect(),
            }),
        }
    }

    fn of_stopped(one: &StoppedRun) -> Self {
        let report = &one.row.report;
        Self {
            run_id: report.run_id.clone(),
            name: report.name.clone(),
            kind: match one.kind {
                StopKind::Limit => WaitingKind::Limit,
                StopKind::Failure => WaitingKind::Failure,
            },
            since: one.at,
            later: one.note.is_later,
            message: one.words(),
            raise: one.paused.as_ref().and_then(PausedRun::raise_words),
            question: one
                .paused
                .as_ref()
                .and_then(|paused| paused.question.clone()),
            change: None,
        }
    }

    fn row(&self, now: Timestamp) -> Vec<String> {
        let age = Duration::try_from(now.duration_since(self.since)).unwrap_or_default();
        let lines = self.change.as_ref().map_or_else(
            || "-".to_owned(),
            |change| format!("+{} −{}", change.added, change.removed),
        );
        let word = self
            .change
            .as_ref()
            .map_or(self.kind.word(), |change| change.tier.word());
        let words = cut_characters(&self.words(), LONGEST);
        let words = if self.later {
            format!("later: {words}")
        } else {
            words
        };
        let run = self.run_id.to_string();
        vec![
            word.to_owned(),
            one_line(&self.name),
            ago(age),
            lines,
            words,
            run,
        ]
    }

    /// Says what there is to know in one sentence.
    fn words(&self) -> String {
        let Some(change) = &self.change else {
            return one_line(self.message.as_deref().unwrap_or_default());
        };
        let reasons = change.reasons.iter().map(|reason| reason.words.clone());
        let mut words: Vec<String> = change.remainder.map(PartsLeft::words).into_iter().collect();
        words.extend(picked_words(&change.other_attempts));
        words.extend(ground_words(&change.stands_on));
        words.extend(reasons);
        if words.is_empty() {
            return "nothing to look at".to_owned();
        }
        one_line(&words.join("; "))
    }
}

/// Says on which results another one stands, if it does.
fn ground_words(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("stands on {}", names.join(", ")))
}

/// Says that a result was picked among several attempts, if it was.
fn picked_words(others: &[OtherAttempt]) -> Option<String> {
    let all = others.len() + 1;
    (all > 1).then(|| format!("picked of {all} attempts"))
}
