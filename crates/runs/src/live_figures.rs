//! Looks at runs that are under way: whether they have a place yet, and their usage so far.

use std::collections::HashMap;
use std::fs;

use pi_subagents_records::{IndexedRun, read_events};
use pi_subagents_vocabulary::{RunId, RunSummary};

/// The events of a run are not counted beyond this; such a run is shown without figures.
const LARGEST: u64 = 64 << 20;

/// The runs under way, as far as they were looked at.
#[derive(Debug, Default)]
pub struct UnderWay {
    runs: HashMap<RunId, Looked>,
}

#[derive(Debug)]
struct Looked {
    /// The length of its events.
    bytes: u64,
    summary: Option<RunSummary>,
}

impl UnderWay {
    /// Looks at a run under way, and returns its summary; `None` if its record cannot be read or is
    /// very long. A record that has not grown since the last look is not read again.
    pub fn look(&mut self, run: &IndexedRun) -> Option<&RunSummary> {
        let bytes = fs::metadata(run.directory.events()).map_or(0, |file| file.len());
        let is_known = self
            .runs
            .get(&run.run)
            .is_some_and(|one| one.bytes == bytes);
        if !is_known {
            let summary = (bytes <= LARGEST).then(|| summary_of(run)).flatten();
            let looked = Looked { bytes, summary };
            self.runs.insert(run.run.clone(), looked);
        }
        self.runs.get(&run.run)?.summary.as_ref()
    }

    /// Forgets the runs that are not among these.
    pub fn keep(&mut self, runs: &[IndexedRun]) {
        self.runs
            .retain(|known, _| runs.iter().any(|run| run.is_open() && run.run == *known));
    }
}

fn summary_of(run: &IndexedRun) -> Option<RunSummary> {
    let mut summary = RunSummary::without_text();
    read_events(&run.directory, |event| summary.apply(event)).ok()?;
    Some(summary)
}
