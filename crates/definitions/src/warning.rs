//! What is wrong with a file, and where.

use std::fmt;
use std::path::PathBuf;

use pi_subagents_delegation::text;

/// Something about a file that its author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// Where in it, if that is known.
    pub position: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// Whether the file is of any use.
    pub verdict: Verdict,
    /// The name of the definition in it, where that could be read.
    pub name: Option<String>,
}

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// What a warning means for its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The file is used.
    Used,
    /// The file is not used.
    Skipped,
}

/// Something that makes a file useless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) position: Option<Position>,
    pub(crate) message: String,
    /// The name of the definition that has it, where that could be read.
    pub(crate) name: Option<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            position: None,
            message: message.into(),
            name: None,
        }
    }

    pub(crate) fn at(position: Position, message: impl Into<String>) -> Self {
        Self {
            position: Some(position),
            message: message.into(),
            name: None,
        }
    }

    pub(crate) fn of(self, name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..self
        }
    }

    pub(crate) fn in_file(self, file: PathBuf) -> Warning {
        Warning {
            file,
            position: self.position,
            message: self.message,
            verdict: Verdict::Skipped,
            name: self.name,
        }
    }
}

impl Warning {
    /// Returns whether it is why there is no definition of a name.
    pub fn keeps_out(&self, name: &str) -> bool {
        let is_called_so = self.file.file_stem().is_some_and(|stem| stem == name);
        let is_named_so = self.name.as_deref() == Some(name);
        self.verdict == Verdict::Skipped && (is_named_so || is_called_so && self.name.is_none())
    }
}

impl Position {
    pub(crate) fn line(line: usize) -> Self {
        Self {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: 1,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position.map_or(String::new(), |position| {
            format!(":{}:{}", position.line, position.column)
        });
        let end = match self.verdict {
            Verdict::Used => "",
            Verdict::Skipped => "; the file is not used",
        };
        let line = format!("{}{position}: {}{end}", self.file.display(), self.message);
        // A file of a repository chooses its own name and words.
        formatter.write_str(&text::clean(&line).replace('\n', " "))
    }
}
