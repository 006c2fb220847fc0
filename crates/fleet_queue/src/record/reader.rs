//! Reads the records of some runs as they come.

use pi_subagents_vocabulary::RunId;

use super::chunk::{self, RecordChunk};
use crate::connect::Fleet;
use crate::error::FleetError;
use crate::stream_reader::{Beginning, StreamReader};

/// A reader of the records of some runs. Nothing is read any more when it is dropped.
#[derive(Debug)]
pub struct RecordReader(StreamReader);

impl RecordReader {
    /// Reads the records of these runs from their first bytes on. It goes on through all troubles
    /// of the connection.
    pub fn start(fleet: &Fleet, runs: &[RunId]) -> Self {
        let names = fleet.names();
        let subjects = runs.iter().map(|run| names.records_of(run)).collect();
        let stream = names.record_stream();
        Self(StreamReader::start(
            fleet,
            stream,
            subjects,
            Beginning::First,
        ))
    }

    /// Returns whether everything has been read that the server had when it was last asked.
    pub fn is_caught_up(&self) -> bool {
        self.0.is_caught_up()
    }

    /// Waits for the next chunk. Nothing is lost if this is not waited for to its end.
    /// It fails if our key does not permit to read records; then nothing comes any more.
    pub async fn next(&mut self) -> Result<RecordChunk, FleetError> {
        loop {
            if let Some(chunk) = chunk::read(&self.0.next().await?) {
                return Ok(chunk);
            }
        }
    }
}
