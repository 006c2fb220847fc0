//! A problem in a file, and its position.

use std::fmt;
use std::path::PathBuf;

use pi_subagents_pi_files::{Position, Problem};
use pi_subagents_vocabulary::{Dialect, text};

/// Something about a file that its author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: PathBuf,
    /// The place in the file, if it is known.
    pub position: Option<Position>,
    /// The text of the warning.
    pub message: String,
    /// The consequence for the file.
    pub verdict: Verdict,
    /// The name of the definition in it, where that could be read.
    pub name: Option<String>,
    /// The tool whose file it is, if it is not ours.
    pub foreign: Option<Dialect>,
}

/// The consequence of a warning for its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The file is used.
    Used,
    /// The file is not used.
    Skipped,
    /// The file is not used, and nothing is wrong with it: its own tool does not offer it as a
    /// sub-agent either.
    NotOffered,
}

impl Warning {
    /// Returns the warning about a file that is not used because of a problem.
    pub(crate) fn skipped(file: PathBuf, problem: Problem) -> Self {
        Self {
            file,
            position: problem.position,
            message: problem.message,
            verdict: Verdict::Skipped,
            name: problem.name,
            foreign: None,
        }
    }

    /// Returns the warning about a file that its own tool does not offer as a sub-agent.
    pub(crate) fn not_offered(file: PathBuf, problem: Problem) -> Self {
        Self {
            verdict: Verdict::NotOffered,
            ..Self::skipped(file, problem)
        }
    }

    /// Returns whether it is why there is no definition of a name.
    pub fn keeps_out(&self, name: &str) -> bool {
        let is_called_so = self.file.file_stem().is_some_and(|stem| stem == name);
        let is_named_so = self.name.as_deref() == Some(name);
        self.verdict != Verdict::Used && (is_named_so || is_called_so && self.name.is_none())
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
            Verdict::NotOffered => "; it is not offered",
        };
        let line = format!("{}{position}: {}{end}", self.file.display(), self.message);
        // A file of a repository chooses its own name and words.
        formatter.write_str(&text::clean(&line).replace('\n', " "))
    }
}
