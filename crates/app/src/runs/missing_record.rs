//! Records that the index leads to and that cannot be read: somebody removed them, or the disk
//! gives them no more. What is left of their session is shown without them.

use std::io;
use std::path::PathBuf;

use pi_subagents_delegation::RunId;
use pi_subagents_sessions::IndexedRun;

use crate::error::CommandError;

/// A run whose record cannot be read.
pub(crate) struct LostRecord {
    run: RunId,
    directory: PathBuf,
    error: io::Error,
}

impl LostRecord {
    pub(crate) fn new(run: &IndexedRun, error: io::Error) -> Self {
        Self {
            run: run.run.clone(),
            directory: run.directory.path().to_owned(),
            error,
        }
    }

    /// The record of this run, if it is no longer there.
    pub(crate) fn if_gone(run: &IndexedRun) -> Option<Self> {
        (!run.directory.path().exists())
            .then(|| Self::new(run, io::Error::from(io::ErrorKind::NotFound)))
    }

    pub(crate) fn is_of(&self, run: &RunId) -> bool {
        self.run == *run
    }

    /// What is wrong, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let (run, place) = (&self.run, self.place());
        let place = place.display();
        if self.is_gone() {
            format!("the record of run {run} is gone: there is no {place}")
        } else {
            let error = &self.error;
            format!("the record of run {run} in {place} cannot be read: {error}")
        }
    }

    fn is_gone(&self) -> bool {
        self.error.kind() == io::ErrorKind::NotFound
    }

    /// The directory, or the file without which it is no record.
    fn place(&self) -> PathBuf {
        if self.is_gone() && self.directory.exists() {
            self.directory.join("meta.json")
        } else {
            self.directory.clone()
        }
    }
}

impl From<LostRecord> for CommandError {
    fn from(lost: LostRecord) -> Self {
        if lost.is_gone() {
            Self::not_found(lost.sentence())
        } else {
            Self::failed(lost.sentence())
        }
    }
}

/// What is missing of a session, in one line.
pub(crate) fn what_is_missing(lost: &[LostRecord]) -> Option<String> {
    match lost {
        [] => None,
        [one] => Some(one.sentence()),
        several => {
            let runs: Vec<&str> = several.iter().map(|one| one.run.as_str()).collect();
            Some(format!(
                "the records of {} runs are gone or cannot be read: {}",
                runs.len(),
                runs.join(", ")
            ))
        }
    }
}
