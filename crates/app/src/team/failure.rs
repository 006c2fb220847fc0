//! Why a team could not do what it was asked.

use std::error::Error;
use std::fmt;

use crate::error::CommandError;

/// A team that could not be opened, or a call that was refused as a whole.
pub struct TeamError(CommandError);

/// The same words: a `main` that fails prints this.
impl fmt::Debug for TeamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for TeamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.to_answer())
    }
}

impl Error for TeamError {}

impl From<CommandError> for TeamError {
    fn from(error: CommandError) -> Self {
        Self(error)
    }
}
