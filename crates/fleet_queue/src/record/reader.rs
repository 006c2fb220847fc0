//! Reads the records of some runs as they come.

use async_nats::StatusCode;
use pi_subagents_vocabulary::RunId;
use serde_json::json;

use super::chunk::{self, RecordChunk};
use crate::connect::Fleet;
use crate::error::FleetError;
use crate::stream_reader::{Beginning, StreamReader};

impl Fleet {
    /// Returns the number of the newest message of a run's record, if the servers have any.
    async fn newest_record(&self, run: &RunId) -> Result<Option<u64>, FleetError> {
        let subject = format!("$JS.API.DIRECT.GET.{}", self.names().record_stream());
        let question = json!({"last_by_subj": self.names().records_of(run)}).to_string();
        let answer = self.ask(&subject, None, question.into()).await?;
        if answer.status == Some(StatusCode::NOT_FOUND) {
            return Ok(None);
        }
        let sequence = answer
            .headers
            .as_ref()
            .and_then(|headers| headers.get("Nats-Sequence")?.as_str().parse().ok());
        sequence.map(Some).ok_or_else(|| FleetError::Strange {
            subject,
            why: "it has no sequence".to_owned(),
        })
    }
}

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

    /// Returns whether everything of a record has been read that the servers have. As long as they do
    /// not answer, there may be more.
    pub async fn has_read_all(&self, fleet: &Fleet, run: &RunId) -> bool {
        match fleet.newest_record(run).await {
            Ok(Some(newest)) => self.0.has_read(newest),
            Ok(None) => true,
            Err(error) => !error.is_passing(),
        }
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
