//! The two tokens of a server, as they are in their files now. Whoever replaces the files revokes
//! the tokens of every page that is open.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::token_file::{new_token_in, token_in};
use pi_subagents_loopback::Token;
use pi_subagents_runs::page_address::Power;

/// The two tokens of a server: one for people who may do everything, one for people who only look.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// Lets its bearer steer, stop, continue, merge and discard runs.
    full: Token,
    /// Lets its bearer look at runs.
    viewing: Token,
}

impl Tokens {
    /// Returns the rights of a request with this text; `None` if it is no token of ours.
    pub(crate) fn grant(&self, given: &str) -> Option<Power> {
        // Both are compared, so that the time does not show which of them is near.
        let (full, viewing) = (self.full.is(given), self.viewing.is(given));
        match (full, viewing) {
            (true, _) => Some(Power::Full),
            (false, true) => Some(Power::ReadOnly),
            (false, false) => None,
        }
    }

    /// Returns the token that gives these rights.
    pub(crate) fn of(&self, power: Power) -> &Token {
        match power {
            Power::Full => &self.full,
            Power::ReadOnly => &self.viewing,
        }
    }
}

#[cfg(test)]
impl Tokens {
    pub(crate) fn of_secrets(full: &str, viewing: &str) -> Self {
        Self {
            full: Token::new(full),
            viewing: Token::new(viewing),
        }
    }
}

/// The files of this user with the tokens.
#[derive(Debug, Clone)]
pub(crate) struct TokenFiles {
    full: PathBuf,
    viewing: PathBuf,
}

impl TokenFiles {
    pub(crate) fn of(places: &Places) -> Self {
        Self {
            full: places.agent_dir.join("subagents-web-token"),
            viewing: places.agent_dir.join("subagents-web-view-token"),
        }
    }

    /// Reads the tokens, which are made when they are first needed.
    pub(crate) fn read(&self) -> Result<Tokens, CommandError> {
        Ok(Tokens {
            full: Token::new(token_in(&self.full)?),
            viewing: Token::new(token_in(&self.viewing)?),
        })
    }

    /// Makes new tokens, so that the old ones open nothing any more.
    pub(crate) fn renew(&self) -> Result<(), CommandError> {
        new_token_in(&self.full)?;
        new_token_in(&self.viewing)
    }

    fn state(&self) -> [FileState; 2] {
        [state(&self.full), state(&self.viewing)]
    }
}

/// The time and the number of a file. A file that was replaced has another number.
type FileState = Option<(SystemTime, u64)>;

fn state(file: &Path) -> FileState {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.ino()))
}

/// The tokens of a server that goes on while they may be renewed.
#[derive(Debug)]
pub(crate) struct CurrentTokens {
    files: TokenFiles,
    read: Mutex<([FileState; 2], Arc<Tokens>)>,
}

impl CurrentTokens {
    pub(crate) fn read(files: TokenFiles) -> Result<Self, CommandError> {
        let state = files.state();
        let tokens = Arc::new(files.read()?);
        Ok(Self {
            files,
            read: Mutex::new((state, tokens)),
        })
    }

    /// Returns the tokens as they are in their files now. Without readable files nobody is let in,
    /// because nobody knows what was meant.
    pub(crate) fn now(&self) -> Option<Arc<Tokens>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.files.state();
        if read.0 != state {
            *read = (state, Arc::new(self.files.read().ok()?));
        }
        Some(Arc::clone(&read.1))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_the_tokens_open_the_door_and_new_ones_close_it_to_the_old() {
        let home = tempfile::tempdir().unwrap();
        let files = TokenFiles {
            full: home.path().join("full"),
            viewing: home.path().join("viewing"),
        };
        let tokens = CurrentTokens::read(files.clone()).unwrap();
        let before = tokens.now().unwrap();
        let full = before.of(Power::Full).secret().to_owned();
        let viewing = before.of(Power::ReadOnly).secret().to_owned();
        assert_eq!(before.grant(&full), Some(Power::Full));
        assert_eq!(before.grant(&viewing), Some(Power::ReadOnly));
        for wrong in ["", &full[1..], &full.to_uppercase(), &format!("{full}0")] {
            let is_same = wrong == full;
            assert!(is_same || before.grant(wrong).is_none(), "{wrong}");
        }
        assert!(Arc::ptr_eq(&before, &tokens.now().unwrap()));
        files.renew().unwrap();
        let after = tokens.now().unwrap();
        assert_eq!((after.grant(&full), after.grant(&viewing)), (None, None));
        let new = after.of(Power::Full).secret();
        assert_eq!(after.grant(new), Some(Power::Full));
    }
}
