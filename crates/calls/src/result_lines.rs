//! The lines below the windows of a call whose runs had worktrees. They say what waits, which of it
//! fits, and what a person types next. The model reads the same in the text of the answer.

use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::{columns, cut_columns, one_line};

use super::answer::Outcomes;

/// At most so many worktrees get a line: they take their rows from the windows.
const MOST: usize = 6;

/// The most columns that a name takes.
const NAME_COLUMNS: usize = 24;

/// Returns the lines; none if no run had a worktree.
pub(super) fn result_lines(outcomes: &Outcomes) -> Vec<String> {
    let worktrees = outcomes.iter().filter_map(|(task, _)| {
        let name = cut_columns(&one_line(&task.name), NAME_COLUMNS);
        let words = outcomes.worktree(task)?.words(&name, Door::PiCommand);
        Some((name, words))
    });
    let worktrees: Vec<(String, String)> = worktrees.collect();
    if worktrees.is_empty() {
        return Vec::new();
    }
    let widths = worktrees.iter().map(|(name, _)| columns(name));
    let width = widths.max().unwrap_or_default();
    let mut lines = vec!["Worktrees:".to_owned()];
    lines.extend(worktrees.iter().take(MOST).map(|(name, words)| {
        let gap = " ".repeat(width - columns(name));
        format!("  {name}{gap}  {words}")
    }));
    match worktrees.len().saturating_sub(MOST) {
        0 => {
            let matrix = outcomes.matrix().into_iter().flat_map(str::lines);
            lines.extend(matrix.map(|line| format!("  {line}")));
        }
        more => lines.push(format!(
            "  … and {more} more; /subagents merge --check shows what fits"
        )),
    }
    lines
}
