//! The errors of a team.

use pi_subagents_vocabulary::Door;
use std::error::Error;
use std::fmt;

use pi_subagents_ground::error::{CommandError, Kind};

/// A team that could not be opened, or a call that was refused as a whole.
///
/// Printed, it says what went wrong, why, and what to do about it.
///
/// ```no_run
/// # async fn example(team: &pi_subagents::Team) {
/// use pi_subagents::TeamErrorKind;
///
/// if let Err(error) = team.delegate([], Vec::new()).await {
///     assert_eq!(error.kind(), TeamErrorKind::Usage);
///     eprintln!("{error}");
/// }
/// # }
/// ```
pub struct TeamError(CommandError);

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TeamErrorKind {
    /// The request makes no sense, such as a call without tasks.
    Usage,
    /// Something that was named is not there, such as the binary.
    NotFound,
    /// It was tried and failed.
    Failed,
}

impl TeamError {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> TeamErrorKind {
        match self.0.kind() {
            Kind::Usage => TeamErrorKind::Usage,
            Kind::NotFound => TeamErrorKind::NotFound,
            Kind::NoAnswer | Kind::Failed | Kind::Interrupted => TeamErrorKind::Failed,
        }
    }
}

/// The same words: a `main` that fails prints this.
impl fmt::Debug for TeamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for TeamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.to_answer(Door::CommandLine))
    }
}

impl Error for TeamError {}

impl From<CommandError> for TeamError {
    fn from(error: CommandError) -> Self {
        Self(error)
    }
}
