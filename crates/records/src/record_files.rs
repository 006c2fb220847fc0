//! Reads `meta.json` and `result.json`, the two files of a record that are read whole.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_vocabulary::Task;

use crate::format::{Meta, RunResult};
use crate::run_dir::{self, RunDir};

/// A file of a run's record that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("could not read {}", file.display())]
pub struct RecordError {
    file: PathBuf,
    source: io::Error,
}

impl RecordError {
    pub(crate) fn new(file: PathBuf, source: impl Into<io::Error>) -> Self {
        Self {
            file,
            source: source.into(),
        }
    }

    /// Returns the error about the events of a run.
    pub(crate) fn of_events(directory: &RunDir, source: io::Error) -> Self {
        Self::new(directory.events(), source)
    }

    /// Returns the file that cannot be read.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns why the file cannot be read, without its name.
    pub fn reason(&self) -> &io::Error {
        &self.source
    }

    /// Returns whether the file is missing; otherwise it is there and spoilt, or must not be read.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// Reads the task and the owner of a run.
pub(crate) fn read_meta(directory: &RunDir) -> Result<(Meta, Arc<Task>), RecordError> {
    let content = directory.read(run_dir::META);
    content
        .and_then(|content| parse_meta(directory, &content))
        .map_err(|error| RecordError::new(directory.meta(), error))
}

/// Parses the content of a `meta.json`, and refuses ids that cannot be ids.
pub(crate) fn parse_meta(directory: &RunDir, content: &[u8]) -> io::Result<(Meta, Arc<Task>)> {
    let meta: Meta = serde_json::from_slice(content)?;
    let task = meta.task(directory);
    let task = task.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok((meta, task))
}

/// Reads how a run ended; `None` if its end was not written down.
pub(crate) fn read_result(directory: &RunDir) -> Result<Option<RunResult>, RecordError> {
    let spoilt = |error: io::Error| RecordError::new(directory.result(), error);
    match directory.read(run_dir::RESULT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(spoilt(error)),
        Ok(content) => parse_result(&content).map(Some).map_err(spoilt),
    }
}

/// Parses the content of a `result.json`, and refuses one without an ending.
fn parse_result(content: &[u8]) -> io::Result<RunResult> {
    let mut result: RunResult = serde_json::from_slice(content)?;
    if result.end().is_none() {
        let lack = "missing field `ending`";
        return Err(io::Error::new(io::ErrorKind::InvalidData, lack));
    }
    Ok(result)
}
