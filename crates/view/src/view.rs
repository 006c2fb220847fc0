//! The part of each window that somebody wants to see.

/// The number of lines that a window shows by default.
pub const DEFAULT_LINES_PER_WINDOW: usize = 15;

/// The settings of a view of a wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The largest width of the view.
    pub columns: usize,
    /// The number of lines that each window shows.
    pub max_lines: usize,
    /// True if each window shows all lines it holds instead.
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
