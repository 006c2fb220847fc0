//! A tool call in a window: its preview and its result.

use pi_subagents_vocabulary::{ToolResult, text};

use crate::preview::CallPreview;
use crate::story::CallState;
use crate::{Line, Role};

/// The number of lines of a result that are held for a reader who wants to see all of a call.
const HELD_LINES: usize = 20;

/// The number of bytes of a result that are held.
const HELD_BYTES: usize = 2 << 10;

/// The mark before each line that a tool printed.
const MARGIN: &str = "  ";

/// A call in a window.
#[derive(Debug, Clone)]
pub(crate) struct HeldCall {
    id: String,
    preview: CallPreview,
    pub(crate) state: CallState,
    /// The beginning of the tool's output.
    printed: Vec<Line>,
}

impl HeldCall {
    pub(crate) fn new(id: String, preview: CallPreview) -> Self {
        Self {
            id,
            preview,
            state: CallState::default(),
            printed: Vec::new(),
        }
    }

    /// Returns whether this is a call of that id whose result is not known.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.state.is_open() && self.id == id
    }

    /// Takes the result.
    pub(crate) fn answer(&mut self, result: &ToolResult) {
        self.printed = printed(&result.text());
        self.state.answer(result);
    }

    pub(crate) fn lines(&self, width: usize) -> Vec<Line> {
        self.preview.lines(self.state.outcome(), width)
    }

    /// Draws all of the call, and the tool's output.
    pub(crate) fn whole(&self) -> Vec<Line> {
        let mut lines = self.preview.whole(self.state.outcome());
        lines.extend(self.printed.iter().cloned());
        lines
    }

    /// Returns about how many bytes it holds beside the lines that are drawn.
    pub(crate) fn size(&self) -> usize {
        self.preview.size() + self.printed.iter().map(Line::size).sum::<usize>()
    }
}

/// Returns the beginning of a tool's output, with a count of the lines that are left out.
fn printed(result: &str) -> Vec<Line> {
    let (beginning, rest) = result.split_at(result.floor_char_boundary(HELD_BYTES));
    let is_inside_line = !rest.is_empty() && !rest.starts_with('\n') && !beginning.ends_with('\n');
    let mark = if is_inside_line { text::CUT_MARK } else { "" };
    let beginning = format!("{beginning}{mark}");
    let mut lines: Vec<Line> = beginning
        .lines()
        .take(HELD_LINES)
        .map(|line| Line::new(Role::Muted, &format!("{MARGIN}{line}")))
        .filter(|line| !line.is_blank())
        .collect();
    let left_out = result.lines().count() - beginning.lines().count().min(HELD_LINES);
    if left_out > 0 {
        lines.push(more_lines(left_out).indented());
    }
    lines
}

/// Says how many lines are not shown.
pub(crate) fn more_lines(number: usize) -> Line {
    let count = text::count(number, "more line");
    Line::new(Role::Muted, &format!("… {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(result: &str) -> Vec<String> {
        printed(result).iter().map(Line::text).collect()
    }

    #[test]
    fn an_output_that_is_cut_shows_where() {
        let long = "x".repeat(HELD_BYTES + 1);
        let cut = format!("  {}...", "x".repeat(HELD_BYTES));
        assert_eq!(texts(&long), [cut.as_str()]);
        assert_eq!(
            texts(&format!("{long}\nmore")),
            [cut.as_str(), "  … 1 more line"]
        );
        let whole = "x".repeat(HELD_BYTES);
        let shown = format!("  {whole}");
        assert_eq!(texts(&whole), [shown.as_str()]);
        assert_eq!(
            texts(&format!("{whole}\nmore")),
            [shown.as_str(), "  … 1 more line"]
        );
        assert_eq!(texts(&"y\n".repeat(22)).last().unwrap(), "  … 2 more lines");
    }
}
