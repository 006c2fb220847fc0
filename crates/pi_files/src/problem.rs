//! A problem that makes a file useless, and its position in the file.

use std::path::Path;

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// Something that makes a file useless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place in the file, if it is known.
    pub position: Option<Position>,
    /// The description of the problem.
    pub message: String,
    /// The name that the file gives to its content, if it could be read.
    pub name: Option<String>,
}

impl Problem {
    /// Returns a problem of the whole file.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            position: None,
            message: message.into(),
            name: None,
        }
    }

    /// Returns a problem at one place in the file.
    pub fn at(position: Position, message: impl Into<String>) -> Self {
        Self {
            position: Some(position),
            ..Self::new(message)
        }
    }

    /// Returns the file and the place in it, such as `settings.json:3:11`.
    pub fn place(&self, file: &Path) -> String {
        match self.position {
            Some(position) => position.in_file(file),
            None => file.display().to_string(),
        }
    }

    /// Adds the name that the file gives to its content.
    #[must_use]
    pub fn of(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }
}

impl Position {
    /// Returns the place as people write it: `settings.json:3:11`.
    pub fn in_file(self, file: &Path) -> String {
        format!("{}:{}:{}", file.display(), self.line, self.column)
    }

    /// Returns the place that is a number of lines further down.
    pub(crate) fn below(self, lines: u32) -> Self {
        Self {
            line: self.line.saturating_add(lines),
            ..self
        }
    }

    /// Returns the beginning of a line.
    pub fn line(line: usize) -> Self {
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: 1,
        }
    }
}
