//! The change an edit made, for people: numbered lines, and a patch.

use similar::{ChangeTag, DiffOp, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 4;

/// The change between two texts.
pub(super) struct Change {
    /// Lines with their numbers and `+`, `-` or a blank before them.
    pub(super) numbered: String,
    /// A unified patch.
    pub(super) patch: String,
    /// The line of the new text in which the change begins, counted from 1.
    pub(super) first_line: Option<usize>,
}

/// Compares two texts line by line.
pub(super) fn compare(path: &str, old: &str, new: &str) -> Change {
    let diff = TextDiff::from_lines(old, new);
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(path, path)
        .to_string();
    let first = diff
        .ops()
        .iter()
        .find(|op| op.tag() != similar::DiffTag::Equal);
    let lines = old.split('\n').count().max(new.split('\n').count());
    Change {
        numbered: numbered(&diff, lines.to_string().len(), old.lines().count()),
        patch: unified,
        first_line: first.map(|op| op.new_range().start + 1),
    }
}

fn numbered(diff: &TextDiff<'_, '_, str>, width: usize, old_lines: usize) -> String {
    let gap = format!(" {:width$} ...", "");
    let mut lines = Vec::new();
    let mut shown_to = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let begins = group.first().map_or(0, |op| op.old_range().start);
        if begins > shown_to {
            lines.push(gap.clone());
        }
        for op in &group {
            lines.extend(lines_of(diff, op, width));
            shown_to = op.old_range().end;
        }
    }
    if shown_to < old_lines {
        lines.push(gap);
    }
    lines.join("\n")
}

fn lines_of(diff: &TextDiff<'_, '_, str>, op: &DiffOp, width: usize) -> Vec<String> {
    let changes = diff.iter_changes(op);
    let lines = changes.map(|change| {
        let (sign, index) = match change.tag() {
            ChangeTag::Equal => (' ', change.old_index()),
            ChangeTag::Delete => ('-', change.old_index()),
            ChangeTag::Insert => ('+', change.new_index()),
        };
        let number = index.unwrap_or_default() + 1;
        let text = change.value();
        format!(
            "{sign}{number:width$} {}",
            text.strip_suffix('\n').unwrap_or(text)
        )
    });
    lines.collect()
}
