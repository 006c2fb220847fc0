//! The finding of a rule.

use std::fmt;

/// A place that breaks a rule, with advice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// None if it is about the file as a whole.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
            message: message.into(),
        }
    }

    pub(crate) fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.path, self.message),
            None => write!(formatter, "{}: {}", self.path, self.message),
        }
    }
}

/// Formats all findings as text, one on a line.
pub(crate) fn report(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    format!("the tree is not tidy:\n{}", lines.join("\n"))
}
