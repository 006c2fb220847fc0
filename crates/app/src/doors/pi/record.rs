//! The sink of every call from pi: it remembers the runs, and gives pi an entry when one begins and
//! one when it ends.

use std::collections::HashMap;
use std::sync::Arc;

use pi_subagents_delegation::{EventSink, Happening, RunEvent, RunId, Task, Timestamp};

use super::link::HostLink;
use crate::runs::entries::{BEGUN_TYPE, BegunRun, ENTRY_TYPE, EntryFold};
use crate::runs::memory::Memory;

/// Follows the runs of one session of pi.
pub(crate) struct SessionRecord {
    memory: Arc<Memory>,
    link: HostLink,
    pi_session: String,
    folds: HashMap<RunId, EntryFold>,
}

impl SessionRecord {
    /// For runs of the session that pi is in now.
    pub(crate) fn new(memory: Arc<Memory>, link: HostLink) -> Self {
        Self {
            memory,
            pi_session: link.session_id(),
            link,
            folds: HashMap::new(),
        }
    }

    /// Of a pi that is killed nobody can write down what became of its runs.
    fn has_begun(&self, task: &Task, at: Timestamp) {
        if let Some(begun) = BegunRun::of(task, at) {
            let data = begun.to_json();
            self.link.append_entry(&self.pi_session, BEGUN_TYPE, &data);
        }
    }

    fn is_over(&self, run: &RunId, fold: EntryFold) {
        let Some(entry) = fold.into_entry() else {
            return;
        };
        let data = entry.to_json();
        self.memory.ended(run, &Arc::new(entry));
        self.link.append_entry(&self.pi_session, ENTRY_TYPE, &data);
    }
}

impl EventSink for SessionRecord {
    fn on_event(&mut self, event: &RunEvent) {
        if let Happening::Accepted(task) = &event.happening {
            self.memory.began(&self.pi_session, task, event.at);
            self.has_begun(task, event.at);
        }
        let fold = self.folds.entry(event.run.clone()).or_default();
        let before = (fold.summary.status(), fold.summary.messages);
        fold.apply(event);
        if matches!(event.happening, Happening::Ended(_)) {
            if let Some(fold) = self.folds.remove(&event.run) {
                self.is_over(&event.run, fold);
            }
        } else if before != (fold.summary.status(), fold.summary.messages) {
            self.memory.changed(&event.run, &fold.summary);
        }
    }
}
