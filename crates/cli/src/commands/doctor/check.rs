//! The result of one check.

use pi_subagents_view::{Line, Role};
use schemars::JsonSchema;
use serde::Serialize;

use pi_subagents_ground::sheet::Sheet;

/// The mark of a check, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Mark {
    /// It works.
    Ok,
    /// It works, but not as somebody may expect.
    Warning,
    /// Something that is needed does not work.
    Problem,
}

/// One line of the report, with advice.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Check {
    name: &'static str,
    mark: Mark,
    text: String,
    hints: Vec<String>,
}

/// The number of columns that a mark takes, with the gap behind it.
const MARK_COLUMNS: usize = 9;

/// The number of columns that a name takes, with the gap behind it.
const NAME_COLUMNS: usize = 13;

impl Mark {
    fn role(self) -> Role {
        match self {
            Self::Ok => Role::Success,
            Self::Warning => Role::Warning,
            Self::Problem => Role::Failed,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl Check {
    /// Makes a check without any problem so far.
    pub(super) fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            mark: Mark::Ok,
            text: text.into(),
            hints: Vec::new(),
        }
    }

    pub(super) fn warning(self) -> Self {
        self.at_least(Mark::Warning)
    }

    pub(super) fn problem(self) -> Self {
        self.at_least(Mark::Problem)
    }

    fn at_least(self, mark: Mark) -> Self {
        Self {
            mark: self.mark.max(mark),
            ..self
        }
    }

    /// Adds to the finding.
    pub(super) fn and(mut self, text: &str) -> Self {
        self.text = format!("{}, {text}", self.text);
        self
    }

    /// Adds advice, or the exact problem.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint for each of several things that are wrong.
    pub(super) fn warnings(self, hints: impl IntoIterator<Item = String>) -> Self {
        hints
            .into_iter()
            .fold(self, |check, hint| check.warning().hint(ended(hint)))
    }

    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    /// Returns the lines for a person: the mark, the name and the finding, with the hints below.
    pub(super) fn lines(&self, sheet: &Sheet) -> Vec<Line> {
        let (mark, name) = (self.mark.as_str(), self.name);
        let found = Line::new(self.mark.role(), &format!("{mark:7}"))
            .with(Role::Plain, "  ")
            .with(Role::Title, &format!("{name:11}"))
            .with(Role::Plain, &format!("  {}", self.text));
        let hints = self.hints.iter().flat_map(|hint| {
            let line = Line::new(Role::Plain, &" ".repeat(MARK_COLUMNS))
                .with(Role::Muted, "hint: ")
                .with(Role::Plain, hint);
            sheet.hang(&line, MARK_COLUMNS + "hint: ".len())
        });
        let found = sheet.hang(&found, MARK_COLUMNS + NAME_COLUMNS);
        found.into_iter().chain(hints).collect()
    }
}

/// Ends a sentence that does not end yet.
fn ended(mut sentence: String) -> String {
    if !sentence.ends_with(['.', '?', '!']) {
        sentence.push('.');
    }
    sentence
}
