//! Hands the events of a copied record to the followers of the call.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_records::{RecordError, RecordTail, RunDir};
use pi_subagents_vocabulary::{
    Ending, EventSink, Happening, RunEvent, RunId, RunSummary, Timestamp,
};

/// The number of bytes of the record that are read at once.
const READ: usize = 256 << 10;

/// One run's record as far as it was handed on.
#[derive(Debug)]
pub(super) struct Fed {
    tail: RecordTail,
    summary: RunSummary,
    /// The last end in the record. It counts once the fleet confirms it: a worker that lost its
    /// claim may have written an end too.
    end: Option<RunEvent>,
}

impl Fed {
    /// Begins with the first event of the run.
    pub(super) fn new(directory: &RunDir) -> Self {
        Self {
            tail: RecordTail::new(directory),
            summary: RunSummary::default(),
            end: None,
        }
    }

    /// Returns the directory here that the run was asked to work in.
    pub(super) fn cwd(&self) -> Option<PathBuf> {
        self.summary.task.as_ref().map(|task| task.cwd.clone())
    }

    /// Hands on the new events, except for the end.
    pub(super) fn feed(&mut self, sinks: &mut [Box<dyn EventSink>]) -> Result<(), RecordError> {
        loop {
            let found = self.tail.next(READ)?;
            if found.is_empty() {
                return Ok(());
            }
            let mut events = Vec::with_capacity(found.len());
            for event in found {
                match &event.happening {
                    Happening::Ended(_) => self.end = Some(event),
                    _ => events.push(event),
                }
            }
            self.feed_sinks(&events, sinks);
        }
    }

    /// Hands on the end, and returns the summary of the run.
    pub(super) fn end(
        mut self,
        run: &RunId,
        ending: &Ending,
        sinks: &mut [Box<dyn EventSink>],
    ) -> Arc<RunSummary> {
        // A record that cannot be read any more is reported by its next reader.
        _ = self.feed(sinks);
        let happening = Happening::Ended(ending.clone());
        let recorded = self.end.take().filter(
            |event| matches!(&event.happening, Happening::Ended(recorded) if recorded == ending),
        );
        let end = recorded.unwrap_or_else(|| RunEvent {
            run: run.clone(),
            at: Timestamp::now(),
            happening,
        });
        self.feed_sinks(&[end], sinks);
        Arc::new(self.summary)
    }

    /// Hands on a sentence for people that is in no record. It is not among the warnings of the
    /// run.
    pub(super) fn mention(&self, run: &RunId, words: &str, sinks: &mut [Box<dyn EventSink>]) {
        let event = warned(run, words);
        for sink in sinks {
            sink.on_events(std::slice::from_ref(&event), &self.summary);
        }
    }

    /// Notes why nobody follows the run any more, and returns its summary, which has no ending. The
    /// answer says the reason, so nobody hears it beside.
    pub(super) fn leave(
        mut self,
        run: &RunId,
        why: &str,
        sinks: &mut [Box<dyn EventSink>],
    ) -> Arc<RunSummary> {
        // A record that cannot be read any more is reported by its next reader.
        _ = self.feed(sinks);
        self.summary.apply(&warned(run, why));
        Arc::new(self.summary)
    }

    fn feed_sinks(&mut self, events: &[RunEvent], sinks: &mut [Box<dyn EventSink>]) {
        if events.is_empty() {
            return;
        }
        self.summary.apply_all(events);
        for sink in sinks {
            sink.on_events(events, &self.summary);
        }
    }
}

fn warned(run: &RunId, words: &str) -> RunEvent {
    RunEvent {
        run: run.clone(),
        at: Timestamp::now(),
        happening: Happening::Warned(words.to_owned()),
    }
}
