//! A session file that is ours, and its contents when we took it.

use std::path::{Path, PathBuf};

use crate::conversation::Conversation;
use crate::flags::Flags;
use crate::session::{
    Claim, ClaimError, NoSuchSession, Recorded, SessionError, SessionFile, SessionLogError,
    SessionPlaces,
};
use crate::surroundings::Surroundings;

/// A session that was locked and read, but is not yet a conversation.
pub(crate) struct OpenedSession {
    id: String,
    claim: Claim,
    /// None when the session begins now.
    pub(crate) recorded: Option<Recorded>,
}

/// The reason why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum OpenError {
    NotFound(#[from] NoSuchSession),
    Claim(#[from] ClaimError),
    Read(#[from] SessionError),
    Write(#[from] SessionLogError),
}

impl OpenedSession {
    /// Finds and locks the session that the flags mean; None if they ask for no session file.
    pub(crate) fn open(
        flags: &Flags,
        surroundings: &Surroundings,
    ) -> Result<Option<Self>, OpenError> {
        let variables = &surroundings.variables;
        let named = variables.get("PI_CODING_AGENT_SESSION_DIR");
        let places = SessionPlaces {
            cwd: &surroundings.cwd,
            agent_dir: &surroundings.agent_dir,
            named: named.map(PathBuf::from),
        };
        places.find(flags)?.map(Self::take).transpose()
    }

    /// Locks the file before it is read, so that no other process writes meanwhile.
    fn take(place: SessionFile) -> Result<Self, OpenError> {
        Ok(Self {
            id: place.id,
            claim: Claim::take(&place.path)?,
            recorded: Recorded::read(&place.path)?,
        })
    }

    /// Returns the conversation of the session; a new conversation begins in `cwd`.
    pub(crate) fn conversation(self, cwd: &Path) -> Result<Conversation, OpenError> {
        Ok(match self.recorded {
            Some(recorded) => Conversation::resume(self.claim, recorded)?,
            None => Conversation::begin(Some(self.claim), self.id, cwd),
        })
    }
}
