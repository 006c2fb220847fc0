//! The part of each window that somebody wants to see.

/// How many lines a window shows unless somebody says otherwise.
pub const DEFAULT_LINES_PER_WINDOW: usize = 15;

/// How a fleet is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// How wide it may be.
    pub columns: usize,
    /// How many lines each window shows.
    pub max_lines: usize,
    /// Whether each window shows all it holds instead.
    pub expanded: bool,
}

impl View {
    /// Returns how many rows of a window are shown at most.
    pub(crate) fn limit(&self) -> usize {
        if self.expanded {
            return usize::MAX;
        }
        self.max_lines.max(1)
    }
}
