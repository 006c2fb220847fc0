//! The sink of every call from pi: it remembers the runs, and gives pi an entry when a run begins
//! and another when it ends.

use std::collections::HashMap;
use std::sync::Arc;

use pi_subagents_vocabulary::{EventSink, Happening, RunEvent, RunId, RunSummary, Task, Timestamp};

use super::link::HostLink;
use pi_subagents_runs::entries::{BEGUN_TYPE, BeginEntry, ENTRY_TYPE, EntryMessages};
use pi_subagents_runs::session_runs::SessionRuns;

/// Follows the runs of one session of pi.
pub(crate) struct SessionRecord {
    runs: Arc<SessionRuns>,
    link: HostLink,
    pi_session: String,
    messages: HashMap<RunId, EntryMessages>,
}

impl SessionRecord {
    /// Makes a sink for runs of the session that pi is in now.
    pub(crate) fn new(runs: Arc<SessionRuns>, link: HostLink) -> Self {
        Self {
            runs,
            pi_session: link.session_id(),
            link,
            messages: HashMap::new(),
        }
    }

    /// Gives pi the entry of a run that begins. If pi is killed, nobody can write down how its runs
    /// ended, and this entry leads to their records.
    fn has_begun(&self, task: &Task, at: Timestamp) {
        if let Some(begun) = BeginEntry::of(task, at) {
            let data = begun.to_json();
            self.link.append_entry(&self.pi_session, BEGUN_TYPE, &data);
        }
    }

    fn is_over(&self, run: &RunId, summary: &RunSummary, messages: EntryMessages) {
        let Some(entry) = messages.into_entry(summary) else {
            return;
        };
        let data = entry.to_json();
        self.runs.ended(run, &Arc::new(entry));
        self.link.append_entry(&self.pi_session, ENTRY_TYPE, &data);
    }
}

impl EventSink for SessionRecord {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let Some(RunEvent { run, .. }) = events.first() else {
            return;
        };
        for event in events {
            if let Happening::Accepted(task) = &event.happening {
                self.runs.began(&self.pi_session, task, event.at);
                self.has_begun(task, event.at);
            }
        }
        let messages = self.messages.entry(run.clone()).or_default();
        for event in events {
            messages.add(event, summary);
        }
        if summary.status().is_over() {
            let messages = self.messages.remove(run).unwrap_or_default();
            self.is_over(run, summary, messages);
        } else {
            self.runs.changed(run, summary);
        }
    }
}
