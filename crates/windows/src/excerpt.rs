//! The beginning of a long text, and how much more there is.

use pi_subagents_delegation::text;

use crate::paint::fit;
use crate::{Line, Role};

/// The first lines of a text, cut to `columns`, with a last line that counts the others.
pub fn excerpt(text: &str, max_lines: usize, columns: usize) -> Vec<Line> {
    let max_lines = max_lines.max(1);
    let mut rest = text.trim_end().lines();
    let mut lines: Vec<Line> = rest
        .by_ref()
        .take(max_lines)
        .map(|line| fit(&Line::new(Role::Plain, line), columns))
        .collect();
    match rest.count() {
        0 => {}
        more => {
            let words = format!("{} ({} more {})", text::CUT_MARK, more, noun(more));
            lines.push(fit(&Line::new(Role::Muted, &words), columns));
        }
    }
    lines
}

fn noun(number: usize) -> &'static str {
    if number == 1 { "line" } else { "lines" }
}
