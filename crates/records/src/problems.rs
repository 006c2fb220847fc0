//! The parts of an owner's records that could not be written.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_vocabulary::RunId;

/// The parts of one run's record that could not be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordProblems {
    /// The problems as sentences, for the caller.
    pub sentences: Vec<String>,
    /// True if the record misses events or the end, so that the answer may not be found in it.
    pub is_incomplete: bool,
}

/// The problems of all runs that no caller has taken yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Arc<Mutex<HashMap<RunId, RecordProblems>>>);

impl Problems {
    /// Notes a problem that leaves the answer in the record.
    pub(crate) fn note(&self, run: &RunId, sentence: String) {
        self.lock()
            .entry(run.clone())
            .or_default()
            .sentences
            .push(sentence);
    }

    /// Notes a problem that leaves a gap.
    pub(crate) fn note_gap(&self, run: &RunId, sentence: String) {
        let mut all = self.lock();
        let problems = all.entry(run.clone()).or_default();
        problems.sentences.push(sentence);
        problems.is_incomplete = true;
    }

    /// Takes the problems of a run.
    pub(crate) fn take(&self, run: &RunId) -> RecordProblems {
        self.lock().remove(run).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, RecordProblems>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the sentence that names the file that could not be written, and why.
pub(crate) fn could_not_write(path: &Path, error: &io::Error) -> String {
    format!("could not write {}: {error}", path.display())
}
