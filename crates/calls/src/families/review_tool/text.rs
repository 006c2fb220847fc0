//! The texts about a review for a model.

use pi_subagents_runs::review::{ReviewQueue, WaitingResult, seen_lines};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::review::{DiffSide, FileDiff, is_folded};
use pi_subagents_vocabulary::text::{clean, count, cut_characters, one_line};

/// The number of characters of an answer that are shown.
const SHORT_ANSWER: usize = 1500;

/// The number of characters of differences that are shown.
const DIFF_ROOM: usize = 12_000;

/// Lists what waits, the safe results first.
pub(super) fn of_queue(queue: &ReviewQueue) -> String {
    let problem = queue
        .problem
        .as_ref()
        .map(|problem| format!("! {problem}\n"));
    if queue.is_empty() {
        return format!("{}Nothing waits for a review.", problem.unwrap_or_default());
    }
    let lines = queue.lines(Timestamp::now());
    let mut text = format!("{}{lines}", problem.unwrap_or_default());
    if !queue.results.is_empty() {
        text.push_str("\n\nThe first word is the risk: fits, look, careful or decide. The last is the run. show with a run shows its changes; accept takes all that stay green, those of decide only by name.");
    }
    clean(&text)
}

/// Shows one result.
pub(super) fn of_result(one: &WaitingResult) -> String {
    let facts = &one.facts;
    let report = &one.row.report;
    let [added, removed] = one.lines();
    let mut lines = vec![format!(
        "{}: {}, +{added} −{removed} (run {})",
        one_line(&facts.name),
        one.tier.word(),
        facts.run
    )];
    lines.extend(
        report
            .task
            .as_deref()
            .map(|task| format!("Task: {}", one_line(task))),
    );
    lines.extend(one.base_words().map(|base| format!("Base: {base}")));
    let others = one.other_attempts.iter();
    lines.extend(others.map(|other| {
        let name = one_line(&other.name);
        format!("Picked before: {name} (run {})", other.run_id)
    }));
    let reasons = one.reasons.iter();
    lines.extend(reasons.map(|reason| format!("Look: {}", one_line(&reason.words))));
    let seen = seen_lines(report).into_iter();
    lines.extend(seen.map(|seen| format!("Seen: {seen}")));
    let unseen = facts.unseen.iter();
    lines.extend(unseen.map(|words| format!("Not seen: {}", one_line(words))));
    lines.push(format!("{}:", count(facts.files.len(), "file")));
    let files = facts.files.iter();
    lines.extend(files.map(|file| {
        let path = one_line(&file.path);
        format!("  {path} +{} −{}", file.added, file.removed)
    }));
    if let Some(output) = &report.output {
        let answer = cut_characters(output.trim(), SHORT_ANSWER);
        lines.push(format!("\nAnswer:\n{answer}"));
    }
    lines.extend(diffs(one));
    clean(&lines.join("\n"))
}

/// Writes the differences of its files, as far as there is room.
fn diffs(one: &WaitingResult) -> Vec<String> {
    let source = one.source();
    let mut room = DIFF_ROOM;
    let mut parts = Vec::new();
    for (number, file) in one.facts.files.iter().enumerate() {
        if is_folded(&file.path) {
            continue;
        }
        let diff = match source.diff(file) {
            Ok(diff) => written(&diff),
            Err(why) => why,
        };
        let part = format!("\n{}\n{diff}", one_line(&file.path));
        let length = part.chars().count();
        if length > room {
            let left = one.facts.files.len() - number;
            let files = count(left, "more file");
            parts.push(format!("\nThere is no room for {files}."));
            break;
        }
        room -= length;
        parts.push(part);
    }
    parts
}

/// Writes a difference as a patch is read.
fn written(diff: &FileDiff) -> String {
    let lines = diff.lines.iter().map(|line| {
        let sign = match line.side {
            DiffSide::Head | DiffSide::About => "",
            DiffSide::Both => " ",
            DiffSide::Added => "+",
            DiffSide::Removed => "-",
        };
        format!("{sign}{}", line.text)
    });
    lines.collect::<Vec<_>>().join("\n")
}
