//! Records that the index leads to and that cannot be read: somebody removed them, or the disk no
//! longer gives them. The other runs of their session are shown without them.

use std::path::{Path, PathBuf};

use pi_subagents_records::{IndexedRun, RecordError, RecordedRun};
use pi_subagents_vocabulary::RunId;

use pi_subagents_ground::error::CommandError;

/// A run whose record cannot be read.
pub struct LostRecord {
    run: RunId,
    directory: PathBuf,
    error: RecordError,
}

impl LostRecord {
    pub fn new(run: &IndexedRun, error: RecordError) -> Self {
        Self {
            run: run.run.clone(),
            directory: run.directory.path().to_owned(),
            error,
        }
    }

    /// Returns the record of this run if it is no longer there.
    pub fn if_gone(run: &IndexedRun) -> Option<Self> {
        let error = RecordedRun::read(&run.directory).err()?;
        error.is_missing().then(|| Self::new(run, error))
    }

    pub fn is_of(&self, run: &RunId) -> bool {
        self.run == *run
    }

    /// Describes the problem in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let (run, what) = (&self.run, self.what());
        if self.error.is_missing() {
            format!("the record of run {run} is {what}")
        } else {
            format!("the record of run {run} {what}")
        }
    }

    /// Describes the problem of the record, without naming the run.
    pub(crate) fn what(&self) -> String {
        if self.error.is_missing() {
            format!("gone: {} does not exist", self.missing().display())
        } else {
            let (file, reason) = (self.error.file().display(), self.error.reason());
            format!("cannot be read: {file}: {reason}")
        }
    }

    /// Returns the directory, or the file without which it is no record.
    fn missing(&self) -> &Path {
        if self.directory.exists() {
            self.error.file()
        } else {
            &self.directory
        }
    }
}

impl From<LostRecord> for CommandError {
    fn from(lost: LostRecord) -> Self {
        if lost.error.is_missing() {
            Self::not_found(lost.sentence())
        } else {
            Self::failed(lost.sentence())
        }
    }
}

/// Returns the sentence about the missing records of a session.
pub fn what_is_missing(lost: &[LostRecord]) -> Option<String> {
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
