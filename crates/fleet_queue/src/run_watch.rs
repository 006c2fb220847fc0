//! Reports the state of some runs, and every change of it.

use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::{Bucket, run_key};
use crate::stream_reader::{Beginning, StreamReader};
use crate::wire::RunEntry;

/// The states of some runs. The watch ends when it is dropped.
#[derive(Debug)]
pub struct RunWatch {
    reader: StreamReader,
    bucket: Bucket,
}

impl Fleet {
    /// Watches these runs: their present state, and every change. A run without an entry reports
    /// nothing.
    pub fn watch_runs(&self, runs: &[RunId]) -> RunWatch {
        let bucket = self.names().runs();
        let subjects = runs.iter().map(|run| bucket.subject(&run_key(run)));
        let subjects = subjects.collect();
        let reader = StreamReader::start(self, bucket.stream(), subjects, Beginning::Last);
        RunWatch { reader, bucket }
    }
}

impl RunWatch {
    /// Returns whether everything has been read that the server had when it was last asked.
    pub fn is_caught_up(&self) -> bool {
        self.reader.is_caught_up()
    }

    /// Waits for the next change. Nothing is lost if this is not waited for to its end.
    /// It fails if our key does not permit to read entries; then nothing comes any more.
    pub async fn next(&mut self) -> Result<(RunId, RunEntry), FleetError> {
        loop {
            let message = self.reader.next().await?;
            let key = self.bucket.key(message.subject.as_str());
            let run = key.and_then(|key| RunId::parse(key).ok());
            // An entry that is not understood was written by a newer version, and an empty message
            // means that the entry is gone.
            if let (Some(run), Ok(entry)) = (run, serde_json::from_slice(&message.payload)) {
                return Ok((run, entry));
            }
        }
    }
}
