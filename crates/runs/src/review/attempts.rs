//! Attempts at one task before which another one was picked. A rule or a judge has decided about them, so
//! they do not wait as results do: the queue names them beside the picked one. If that is discarded, they
//! wait again.

use std::collections::HashMap;

use pi_subagents_records::{Finder, IndexedRun};
use pi_subagents_vocabulary::{PickedAttempt, RunId, SessionId};
use schemars::JsonSchema;
use serde::Serialize;

use super::later::ReviewNote;
use crate::known_index::KnownIndex;
use crate::workspace::{Workspace, WorkspaceState};

/// An attempt before which another one was picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherAttempt {
    pub run_id: RunId,
    /// The name of the attempt.
    pub name: String,
}

/// Notes beside each attempt which one was picked before it. Without the note it waits like any result.
pub fn note_pick(index: &KnownIndex, picked: &PickedAttempt) {
    let Ok((winner, _)) = &picked.outcome else {
        return;
    };
    let ids: Vec<&str> = picked.runs.iter().map(RunId::as_str).collect();
    let Ok(known) = index.candidates(Finder::GIVEN, &ids) else {
        return;
    };
    let is_other = |run: &&IndexedRun| run.run != *winner && picked.runs.contains(&run.run);
    for run in known.iter().filter(is_other) {
        let mut note = ReviewNote::read(&run.directory);
        note.picked = Some(winner.to_string());
        _ = note.write(&run.directory);
    }
}

/// Runs whose results wait, apart from attempts that were not picked.
pub(super) struct PartedAttempts {
    pub(super) waiting: Vec<IndexedRun>,
    /// The other attempts, by the session of the picked one.
    pub(super) others: HashMap<SessionId, Vec<OtherAttempt>>,
}

impl PartedAttempts {
    /// Parts them. `known` are all runs; an attempt that somebody names waits like any result.
    pub(super) fn of(waiting: Vec<IndexedRun>, known: &[IndexedRun], named: &[RunId]) -> Self {
        let mut parted = Self {
            waiting: Vec::new(),
            others: HashMap::new(),
        };
        for run in waiting {
            let note = ReviewNote::read(&run.directory);
            let picked = note.picked.filter(|_| !named.contains(&run.run));
            match picked.and_then(|picked| session_of_picked(&picked, known)) {
                Some(session) => {
                    let other = OtherAttempt {
                        run_id: run.run,
                        name: run.name,
                    };
                    parted.others.entry(session).or_default().push(other);
                }
                None => parted.waiting.push(run),
            }
        }
        parted
    }
}

/// Returns the session of the picked attempt; `None` if its work was thrown away, or nobody knows it
/// any more.
fn session_of_picked(picked: &str, known: &[IndexedRun]) -> Option<SessionId> {
    let picked = known.iter().rev().find(|run| run.run.as_str() == picked)?;
    let newest = known
        .iter()
        .rev()
        .find(|run| run.session == picked.session)?;
    let workspace = Workspace::read(newest.directory.path())?;
    let is_gone = workspace.state == WorkspaceState::Discarded;
    (!is_gone).then(|| picked.session.clone())
}
