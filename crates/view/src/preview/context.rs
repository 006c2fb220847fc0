//! The facts that a preview needs beside the call.

use std::path::PathBuf;

/// The narrowest preview that still says something.
const MIN_WIDTH: usize = 20;

/// The directories that a preview shortens paths by, and the width that it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewContext {
    /// The person's home, which is shown as `~`.
    pub home: Option<PathBuf>,
    /// The directory that paths are shown from.
    pub cwd: PathBuf,
    /// The number of columns that a line may take, at least 20.
    pub width: usize,
}

impl PreviewContext {
    /// The width by default.
    pub const DEFAULT_WIDTH: usize = 160;

    pub(crate) fn width(&self) -> usize {
        self.width.max(MIN_WIDTH)
    }
}

impl Default for PreviewContext {
    fn default() -> Self {
        Self {
            home: None,
            cwd: PathBuf::new(),
            width: Self::DEFAULT_WIDTH,
        }
    }
}
