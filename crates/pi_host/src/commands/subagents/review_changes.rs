//! The changes of a result on a page inside pi.

use pi_subagents_runs::review::ResultSource;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::review::{DiffLine, DiffSide, TouchedPath, is_folded};

/// Writes the changes of a result, without those of files that programs write.
pub(super) fn change_lines(source: &ResultSource, files: &[TouchedPath]) -> Vec<Line> {
    let mut lines = Vec::new();
    for file in files {
        let heading = format!("{} +{} −{}", file.path, file.added, file.removed);
        lines.push(Line::new(Role::Heading, &heading));
        if is_folded(&file.path) {
            lines.push(Line::new(Role::Muted, "A program writes it."));
        } else {
            match source.diff(file) {
                Ok(diff) => lines.extend(diff.lines.iter().map(diff_line)),
                Err(why) => lines.push(Line::new(Role::Warning, &why)),
            }
        }
        lines.push(Line::default());
    }
    lines
}

fn diff_line(line: &DiffLine) -> Line {
    let (sign, role) = match line.side {
        DiffSide::Added => ("+", Role::Added),
        DiffSide::Removed => ("-", Role::Removed),
        DiffSide::Both => (" ", Role::Plain),
        DiffSide::Head | DiffSide::About => (" ", Role::Muted),
    };
    let number = line
        .new
        .or(line.old)
        .map_or(String::new(), |number| number.to_string());
    Line::new(Role::Muted, &format!("{number:>5} ")).with(role, &format!("{sign}{}", line.text))
}
