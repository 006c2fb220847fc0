//! What waits, as the screen shows it.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_runs::no_result::NoResult;
use pi_subagents_runs::review::{
    PausedRun, ResultSource, ReviewQueue, StopKind, StoppedRun, WaitingQuestion, WaitingResult,
    seen_lines,
};
use pi_subagents_view::figures::clock;
use pi_subagents_vocabulary::review::{RiskRule, RiskTier, TouchedPath};
use pi_subagents_vocabulary::text::{clean, count, one_line};
use pi_subagents_vocabulary::{RunId, RunReport, Timestamp};

/// Something that waits for the person.
#[derive(Debug, Clone)]
pub(super) struct ReviewItem {
    pub(super) run: RunId,
    pub(super) name: String,
    pub(super) kind: ItemKind,
    /// The risk of a result, or the kind of anything else, in one word.
    pub(super) word: &'static str,
    /// The risk of a result.
    pub(super) tier: Option<RiskTier>,
    pub(super) since: Timestamp,
    pub(super) is_later: bool,
    /// The agent, the model and the figures.
    pub(super) head: String,
    pub(super) task: String,
    /// The answer, the question, or the reason why the run ended.
    pub(super) answer: String,
    /// The reasons to look at it.
    pub(super) reasons: Vec<String>,
    /// What was seen of the run.
    pub(super) seen: Vec<String>,
    /// Claims that were not seen.
    pub(super) unseen: Vec<String>,
    /// The names of the results with which it conflicts.
    pub(super) clashes: Vec<String>,
    /// The other attempts at its task, before which it was picked.
    pub(super) attempts: Vec<String>,
    /// The state from which it began.
    pub(super) base: String,
    pub(super) files: Vec<TouchedPath>,
    /// The commands that its call has set as gates.
    pub(super) gates: Vec<String>,
    /// The states between which it is the difference.
    pub(super) states: String,
    /// What its budgets would get, if it waits for that.
    pub(super) raise: Option<String>,
    /// Says how much of it waits, if parts were accepted before.
    pub(super) remainder: Option<String>,
    /// Where its files can be read, if it has any.
    pub(super) source: Option<Arc<ResultSource>>,
}

/// The kinds of what waits, in the order of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemKind {
    Question,
    Limit,
    Change,
    Failure,
    /// A result that waits and cannot be found.
    Unreachable,
}

impl ReviewItem {
    /// Lists what waits, in the order of the screen.
    pub(super) fn all(queue: ReviewQueue) -> Vec<Self> {
        let questions = queue.questions.into_iter().map(Self::of_question);
        let limits = queue.limits.iter().map(Self::of_stopped);
        let results = queue.results.iter().map(Self::of_result);
        let failures = queue.failures.iter().map(Self::of_stopped);
        let unreachable = queue.unreachable.iter().map(Self::of_unreachable);
        questions
            .chain(limits)
            .chain(results)
            .chain(failures)
            .chain(unreachable)
            .collect()
    }

    /// Returns the number of lines that were added and taken out.
    pub(super) fn lines(&self) -> [u64; 2] {
        let files = self.files.iter();
        files.fold([0, 0], |[added, removed], file| {
            [added + file.added, removed + file.removed]
        })
    }

    /// Returns whether it is a run that waits until somebody raises a budget.
    pub(super) fn is_paused(&self) -> bool {
        self.kind == ItemKind::Limit && self.word == "budget"
    }

    fn of_question(asked: WaitingQuestion) -> Self {
        Self {
            kind: ItemKind::Question,
            word: "asks",
            since: asked.asked.asked_at,
            answer: shown(&asked.question),
            ..Self::plain(asked.run, &asked.name)
        }
    }

    fn of_stopped(stopped: &StoppedRun) -> Self {
        let report = &stopped.row.report;
        let (kind, word) = match stopped.kind {
            StopKind::Limit if stopped.paused.is_some() => (ItemKind::Limit, "budget"),
            StopKind::Limit => (ItemKind::Limit, "limit"),
            StopKind::Failure => (ItemKind::Failure, "failed"),
        };
        Self {
            kind,
            word,
            since: stopped.at,
            is_later: stopped.note.is_later,
            head: head_of(report),
            task: shown(report.task.as_deref().unwrap_or_default()),
            answer: shown(&stopped.words().unwrap_or_default()),
            raise: stopped.paused.as_ref().and_then(PausedRun::raise_words),
            seen: seen_lines(report),
            ..Self::plain(report.run_id.clone(), &report.name)
        }
    }

    fn of_unreachable(without: &NoResult) -> Self {
        Self {
            kind: ItemKind::Unreachable,
            word: "lost",
            since: without.run.accepted_at,
            answer: shown(&without.why()),
            ..Self::plain(without.run.run.clone(), &without.run.name)
        }
    }

    fn of_result(waiting: &WaitingResult) -> Self {
        let report = &waiting.row.report;
        let source = waiting.source();
        let claims = |rule: RiskRule| rule == RiskRule::NotSeen;
        let reasons = waiting.reasons.iter().filter(|reason| !claims(reason.rule));
        Self {
            kind: ItemKind::Change,
            word: waiting.tier.word(),
            tier: Some(waiting.tier),
            since: waiting.at,
            is_later: waiting.note.is_later,
            head: head_of(report),
            task: shown(report.task.as_deref().unwrap_or_default()),
            answer: shown(report.output.as_deref().unwrap_or_default()),
            reasons: reasons.map(|reason| shown(&reason.words)).collect(),
            seen: seen_lines(report),
            unseen: waiting
                .facts
                .unseen
                .iter()
                .map(|claim| shown(claim))
                .collect(),
            clashes: waiting
                .facts
                .clashes
                .iter()
                .map(|clash| shown(&clash.name))
                .collect(),
            attempts: waiting
                .other_attempts
                .iter()
                .map(|other| shown(&other.name))
                .collect(),
            base: base_of(waiting),
            files: waiting.facts.files.clone(),
            gates: waiting.gates.clone(),
            states: source.states(),
            remainder: waiting.remainder_words(),
            source: Some(Arc::new(source)),
            ..Self::plain(report.run_id.clone(), &report.name)
        }
    }

    /// Makes an item of which only the run is known.
    pub(super) fn plain(run: RunId, name: &str) -> Self {
        Self {
            run,
            name: shown(name),
            kind: ItemKind::Change,
            word: "fits",
            tier: None,
            since: Timestamp::UNIX_EPOCH,
            is_later: false,
            head: String::new(),
            task: String::new(),
            answer: String::new(),
            reasons: Vec::new(),
            seen: Vec::new(),
            unseen: Vec::new(),
            clashes: Vec::new(),
            attempts: Vec::new(),
            base: String::new(),
            files: Vec::new(),
            gates: Vec::new(),
            states: String::new(),
            remainder: None,
            raise: None,
            source: None,
        }
    }
}

/// Says from which state a result began, and on which results that wait it stands.
fn base_of(waiting: &WaitingResult) -> String {
    let base = waiting.base_words().into_iter();
    let names = waiting.stands_on.join(", ");
    let grounds = (!names.is_empty()).then(|| format!("stands on {names}"));
    shown(&base.chain(grounds).collect::<Vec<_>>().join(" • "))
}

fn shown(text: &str) -> String {
    one_line(&clean(text))
}

fn head_of(report: &RunReport) -> String {
    let lasted = report
        .started_at
        .zip(report.ended_at)
        .map(|(began, ended)| {
            clock(Duration::try_from(ended.duration_since(began)).unwrap_or_default())
        });
    let calls = report.tool_calls.map(|calls| count(calls, "call"));
    let parts = [report.agent.clone(), report.full_model(), calls, lasted];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    shown(&parts.join(" • "))
}
