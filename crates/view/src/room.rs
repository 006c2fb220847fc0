//! Limits the memory of a window.

/// The largest amount that one window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The number of lines.
    pub lines: usize,
    /// The number of bytes of text.
    pub bytes: usize,
    /// The number of bytes of one line.
    pub line_bytes: usize,
}

impl Room {
    /// For a view of the newest lines, each cut to the width of a terminal unless it is expanded.
    pub const ROLLING: Self = Self {
        lines: 500,
        bytes: 128 << 10,
        line_bytes: 32 << 10,
    };

    /// For lines of progress, which are cut to the width of a terminal and never shown again.
    pub const PROGRESS: Self = Self {
        line_bytes: 1 << 10,
        ..Self::ROLLING
    };

    /// The amount for a reader of a whole run.
    pub const WHOLE: Self = Self {
        lines: 100_000,
        bytes: 32 << 20,
        line_bytes: 64 << 10,
    };

    /// The amount for a reader who wants to know only what a run does now.
    pub const LAST_LINE: Self = Self {
        lines: 1,
        bytes: 2 << 10,
        line_bytes: 512,
    };
}
