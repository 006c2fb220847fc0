//! A conversation that its caller has named, so that it may have gone on elsewhere.

use std::path::Path;

use pi_subagents_records::{StickySession, Travelled};
use pi_subagents_vocabulary::SessionId;

/// A conversation that its caller has named.
pub(crate) struct NamedSession<'a> {
    pub(crate) session: &'a StickySession,
    pub(crate) cwd: &'a Path,
    pub(crate) agent: &'a str,
    pub(crate) id: &'a SessionId,
}

impl NamedSession<'_> {
    /// Returns the note of a conversation that was elsewhere.
    pub(crate) fn note(&self) -> Option<Travelled> {
        Travelled::read(self.session.file())
    }
}
