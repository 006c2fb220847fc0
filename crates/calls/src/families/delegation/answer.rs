//! The answer to a caller of the delegation family: one line per task.

use pi_subagents_view::receipt_lines_with_figures;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Advice, Door};
use pi_subagents_vocabulary::{RunSummary, Status, Task};

use crate::answer::{AttemptPart, Outcomes, left_attempt_line};

/// The number of runs of a call up to which those that completed have a line each.
const MOST_LISTED: usize = 64;

/// Returns the text of the answer: a line per task with its receipt, in their order, a line per
/// warning, and the answers that no record keeps.
pub(super) fn summary(outcomes: &Outcomes) -> String {
    let left_out = left_out(outcomes);
    let is_listed = |run: &RunSummary| left_out.is_none() || run.status() != Status::Completed;
    let listed = outcomes.iter().filter(|(_, run)| is_listed(run));
    let lines = listed.flat_map(|(task, run)| {
        if let AttemptPart::Left(why) = outcomes.attempt(task) {
            return vec![left_attempt_line(task, run, why.as_deref())];
        }
        let receipt = run.receipt();
        let asks = outcomes.question_lines(task, run);
        let seen = receipt.filter(|_| asks.is_empty());
        let seen = seen.map(|receipt| receipt_lines_with_figures(&receipt));
        let worktree = outcomes.worktree(task);
        let worktree = worktree.map(|worktree| worktree.lines(task.run.as_str(), outcomes.door));
        let worktree = worktree.into_iter().flatten();
        let silent = run
            .has_no_text()
            .then(|| "  ! it completed without a text".to_owned());
        let line = asks.is_empty().then(|| summary_line(task, run));
        line.into_iter()
            .chain(asks)
            .chain(silent)
            .chain(seen.into_iter().flatten())
            .chain(worktree.map(|line| format!("  {line}")))
            .collect()
    });
    let warnings = outcomes
        .warnings
        .iter()
        .map(|warning| format!("! {warning}"));
    let answers = outcomes.unrecorded().map(|(task, answer)| {
        let name = one_line(&task.name);
        format!("! {name}: its record may lack its answer, which is:\n{answer}")
    });
    let matrix = outcomes.matrix().map(|matrix| format!("\n{matrix}"));
    let lines = left_out
        .clone()
        .into_iter()
        .chain(lines)
        .chain(outcomes.picked_lines())
        .chain(matrix)
        .chain(warnings)
        .chain(answers);
    let summary = lines.collect::<Vec<_>>().join("\n");
    match outcomes.door {
        // A client asks its person before every further call.
        Door::Mcp => summary + &answers_of(outcomes),
        Door::CommandLine | Door::Pi | Door::PiCommand | Door::Attach | Door::Page => summary,
    }
}

/// Returns the line that stands for the completed runs of a call with very many runs.
fn left_out(outcomes: &Outcomes) -> Option<String> {
    let all = outcomes.iter().count();
    if all <= MOST_LISTED {
        return None;
    }
    let completed = outcomes
        .iter()
        .filter(|(_, run)| run.status() == Status::Completed);
    let list = Advice::ListRuns.words(outcomes.door);
    Some(format!(
        "{} {} of {all} runs completed; {list}",
        Status::Completed.icon(),
        completed.count()
    ))
}

/// Returns what the sub-agents have answered, each under its name.
fn answers_of(outcomes: &Outcomes) -> String {
    let answers = outcomes.shared_outputs();
    let named = outcomes.iter().zip(answers);
    let parts = named.filter_map(|((task, _), answer)| {
        let answer = answer.filter(|_| is_shown(outcomes, task))?;
        Some(format!("\n\n## {}\n\n{answer}", one_line(&task.name)))
    });
    parts.collect()
}

/// Returns whether the answer of a run belongs to that of the call.
fn is_shown(outcomes: &Outcomes, task: &Task) -> bool {
    match outcomes.attempt(task) {
        AttemptPart::Left(_) | AttemptPart::Judge => false,
        AttemptPart::None | AttemptPart::Picked => true,
    }
}

/// Describes a task in one line, with the settings of its profile.
fn summary_line(task: &Task, run: &RunSummary) -> String {
    let profile = task
        .definition
        .as_ref()
        .filter(|used| !used.summary.is_empty())
        .map_or(String::new(), |used| format!(" ({})", used.summary));
    format!("{}{profile}", sentence(task, run))
}

/// Describes the ending of a task in one line, whatever a caller or a provider wrote.
pub fn sentence(task: &Task, run: &RunSummary) -> String {
    let (name, session) = (one_line(&task.name), &task.session);
    let word = match run.status() {
        Status::Queued | Status::Running => "unknown",
        Status::Waiting | Status::Parked => "waiting",
        Status::Completed | Status::Failed | Status::Stopped => "error",
    };
    let (icon, state) = match run.problem() {
        None => (Status::Completed.icon(), "completed".to_owned()),
        Some(message) => {
            let message = one_line(&message);
            (run.status().icon(), format!("{word} — {message}"))
        }
    };
    format!("{icon} {name}: {state} (session: {session})")
}
