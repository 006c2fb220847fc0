//! A session file that is ours, and what it held when we took it.

use std::path::{Path, PathBuf};

use crate::conversation::Conversation;
use crate::flags::Flags;
use crate::run::Surroundings;
use crate::session::{Claim, Place, Places, Recorded};
use crate::settings::Settings;

/// A session on its way to a conversation.
pub(crate) struct OpenedSession {
    id: String,
    claim: Claim,
    /// None when the session begins now.
    pub(crate) recorded: Option<Recorded>,
}

impl OpenedSession {
    /// Finds and takes the session that the flags mean; None keeps nothing.
    pub(crate) fn open(flags: &Flags, surroundings: &Surroundings) -> Result<Option<Self>, String> {
        let variables = &surroundings.variables;
        let (settings, _) = Settings::load(&[surroundings.agent_dir.join("settings.json")]);
        let named = variables.get("PI_CODING_AGENT_SESSION_DIR").cloned();
        let session_dir = named.or(settings.session_dir);
        let places = Places {
            cwd: &surroundings.cwd,
            agent_dir: &surroundings.agent_dir,
            session_dir: session_dir.map(PathBuf::from),
        };
        places.find(flags)?.map(Self::take).transpose()
    }

    /// Takes the file first, so that nobody writes while it is read.
    pub(crate) fn take(place: Place) -> Result<Self, String> {
        let claim = Claim::take(&place.path).map_err(|error| error.to_string())?;
        let recorded = Recorded::read(&place.path).map_err(|error| error.to_string())?;
        Ok(Self {
            id: place.id,
            claim,
            recorded,
        })
    }

    /// The conversation that goes on, or begins in `cwd`.
    pub(crate) fn conversation(self, cwd: &Path) -> Result<Conversation, String> {
        match self.recorded {
            Some(recorded) => {
                Conversation::resume(self.claim, recorded).map_err(|error| error.to_string())
            }
            None => Ok(Conversation::begin(Some(self.claim), self.id, cwd, None)),
        }
    }
}
