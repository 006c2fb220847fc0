//! What waits for a person, as the dialogs of `/subagents review` name it: in a line of the list, and in
//! the title above the choices.

use pi_subagents_records::IndexedRun;
use pi_subagents_runs::review::{
    PausedRun, ResultSource, ReviewQueue, StoppedRun, WaitingResult, seen_lines,
};
use pi_subagents_vocabulary::review::{RiskTier, TouchedPath};
use pi_subagents_vocabulary::text::{clean, count, cut_characters, first_of, one_line};
use pi_subagents_vocabulary::{QuestionId, RunId};

/// The number of characters of reasons in a line of the list.
const SHORT_REASONS: usize = 100;

/// The number of characters of a task and of an answer above the choices.
const SHORT_TEXT: usize = 300;

/// The most files and facts above the choices.
const MOST_NAMED: usize = 6;

/// Something that waits, as the dialogs show it.
pub(super) struct Item {
    pub(super) line: String,
    pub(super) kind: ItemKind,
}

pub(super) enum ItemKind {
    /// A question, by its id.
    Question(QuestionId),
    Result(Box<ResultItem>),
    /// A run that failed or is at its limit, and what happened.
    Stopped {
        run: RunId,
        title: String,
        /// What its budgets would get, if it waits for that.
        raise: Option<String>,
    },
}

/// A result that waits.
pub(super) struct ResultItem {
    pub(super) run: IndexedRun,
    /// What a person should know of it, on a few lines.
    pub(super) title: String,
    tier: RiskTier,
    pub(super) is_later: bool,
    pub(super) source: ResultSource,
    pub(super) files: Vec<TouchedPath>,
}

/// Returns the results that can be accepted together without a decision.
pub(super) fn together(items: &[Item]) -> Vec<&ResultItem> {
    let fits = |one: &&ResultItem| one.tier <= RiskTier::Careful && !one.is_later;
    results(items).filter(fits).collect()
}

/// Returns the results among what waits.
pub(super) fn results(items: &[Item]) -> impl Iterator<Item = &ResultItem> {
    items.iter().filter_map(|item| match &item.kind {
        ItemKind::Result(result) => Some(&**result),
        ItemKind::Question(_) | ItemKind::Stopped { .. } => None,
    })
}

/// Lists everything that waits, in the order of the queue.
pub(super) fn items(queue: &ReviewQueue) -> Vec<Item> {
    let questions = queue.questions.iter().map(|asked| Item {
        line: shown(&["asks", &asked.name, &asked.question]),
        kind: ItemKind::Question(asked.asked.id.clone()),
    });
    let results = queue.results.iter().map(result_item);
    let limits = queue.limits.iter().map(|one| stopped_item(one, "limit"));
    let failures = queue.failures.iter().map(|one| stopped_item(one, "failed"));
    questions
        .chain(limits)
        .chain(results)
        .chain(failures)
        .collect()
}

fn shown(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| one_line(&clean(part)));
    parts.collect::<Vec<_>>().join(" • ")
}

fn stopped_item(one: &StoppedRun, word: &str) -> Item {
    let report = &one.row.report;
    let message = one.words().unwrap_or_default();
    let short = cut_characters(&one_line(&message), SHORT_REASONS);
    let task = report.task.as_deref().map(short_text);
    let mut title = vec![format!(
        "{}: {}",
        one_line(&report.name),
        one_line(&message)
    )];
    title.extend(task.map(|task| format!("Task: {task}")));
    Item {
        line: shown(&[word, &report.name, &short]),
        kind: ItemKind::Stopped {
            run: report.run_id.clone(),
            title: clean(&title.join("\n")),
            raise: one.paused.as_ref().and_then(PausedRun::raise_words),
        },
    }
}

fn result_item(one: &WaitingResult) -> Item {
    let [added, removed] = one.lines();
    let facts = &one.facts;
    let reasons: Vec<&str> = one
        .reasons
        .iter()
        .map(|reason| reason.words.as_str())
        .collect();
    let reasons = if reasons.is_empty() {
        "nothing to look at".to_owned()
    } else {
        cut_characters(&one_line(&reasons.join("; ")), SHORT_REASONS)
    };
    let reasons = if one.note.is_later {
        format!("later: {reasons}")
    } else {
        reasons
    };
    let lines = format!("+{added} −{removed}");
    Item {
        line: shown(&[one.tier.word(), &facts.name, &lines, &reasons]),
        kind: ItemKind::Result(Box::new(ResultItem {
            run: one.result.run.clone(),
            title: title_of(one),
            tier: one.tier,
            is_later: one.note.is_later,
            source: one.source(),
            files: facts.files.clone(),
        })),
    }
}

/// Says what a person should know of a result before they decide.
fn title_of(one: &WaitingResult) -> String {
    let (facts, report) = (&one.facts, &one.row.report);
    let [added, removed] = one.lines();
    let mut lines = vec![format!(
        "{}: {}, {}, +{added} −{removed}",
        one_line(&facts.name),
        one.tier.word(),
        count(facts.files.len(), "file")
    )];
    let task = report.task.as_deref().map(short_text);
    lines.extend(task.map(|task| format!("Task: {task}")));
    lines.extend(one.remainder_words());
    if !one.stands_on.is_empty() {
        let names = one.stands_on.iter().map(|name| one_line(name));
        lines.push(format!("Stands on {}", first_of(names, MOST_NAMED, ", ")));
    }
    let others = one.other_attempts.iter().map(|other| one_line(&other.name));
    let others: Vec<String> = others.collect();
    if !others.is_empty() {
        lines.push(format!(
            "Picked before {}",
            first_of(others, MOST_NAMED, ", ")
        ));
    }
    let reasons = one.reasons.iter().take(MOST_NAMED);
    lines.extend(reasons.map(|reason| format!("! {}", one_line(&reason.words))));
    let seen = seen_lines(report).into_iter().take(MOST_NAMED);
    lines.extend(seen.map(|seen| format!("Seen: {seen}")));
    let unseen = facts.unseen.iter().take(MOST_NAMED);
    lines.extend(unseen.map(|words| format!("Not seen: {}", one_line(words))));
    let files = facts.files.iter().map(|file| one_line(&file.path));
    lines.push(format!("Files: {}", first_of(files, MOST_NAMED, ", ")));
    let answer = report.output.as_deref().map(short_text);
    lines.extend(answer.map(|answer| format!("Answer: {answer}")));
    clean(&lines.join("\n"))
}

fn short_text(text: &str) -> String {
    cut_characters(&one_line(text), SHORT_TEXT)
}
