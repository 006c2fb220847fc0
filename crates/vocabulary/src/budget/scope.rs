//! The scope of a budget, by the name that its file has.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::BadId;

/// What a budget is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScopeKind {
    /// The runs of one call.
    Call,
    /// The runs of a session of pi, or of the life of an MCP server.
    Session,
    /// The runs of all calls that name it.
    Named,
    /// The runs of one user on one day.
    Day,
}

impl ScopeKind {
    const ALL: [Self; 4] = [Self::Call, Self::Session, Self::Named, Self::Day];

    /// Returns the word for this kind.
    pub fn as_str(self) -> &'static str {
        self.prefix().trim_end_matches('-')
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Call => "call-",
            Self::Session => "session-",
            Self::Named => "named-",
            Self::Day => "day-",
        }
    }
}

/// The name of the scope of a budget. It is safe as the name of a file, and a detached process or a
/// descendant gets it instead of a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BudgetScope(String);

impl BudgetScope {
    /// Makes the scope of a kind with this name, which has 1 to 64 letters, digits, `_` or `-`.
    pub fn new(kind: ScopeKind, name: &str) -> Result<Self, BadId> {
        let name = crate::ids::checked(name)?;
        Ok(Self(format!("{}{name}", kind.prefix())))
    }

    /// Returns the kind.
    pub fn kind(&self) -> ScopeKind {
        let mut kinds = ScopeKind::ALL.into_iter();
        let found = kinds.find(|kind| self.0.starts_with(kind.prefix()));
        found.unwrap_or(ScopeKind::Named)
    }

    /// Returns the name without its kind.
    pub fn name(&self) -> &str {
        self.0.strip_prefix(self.kind().prefix()).unwrap_or(&self.0)
    }

    /// Returns the whole name, as its file has it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BudgetScope {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        let mut kinds = ScopeKind::ALL.into_iter();
        let found = kinds.find_map(|kind| Some((kind, text.strip_prefix(kind.prefix())?)));
        match found {
            Some((kind, name)) => Self::new(kind, name),
            None => Err(BadId::of(&text)),
        }
    }
}

impl From<BudgetScope> for String {
    fn from(scope: BudgetScope) -> Self {
        scope.0
    }
}

/// `the budget of this call`.
impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ScopeKind::Call => f.write_str("the budget of this call"),
            ScopeKind::Session => f.write_str("the budget of this session"),
            ScopeKind::Named => write!(f, "the budget {}", self.name()),
            ScopeKind::Day => f.write_str("the budget of this day"),
        }
    }
}
