//! One message of a record: some bytes of a file, and their place in it.

use async_nats::jetstream::Message;
use bytes::Bytes;
use pi_subagents_vocabulary::RunId;

use super::files::travels;
use crate::wire::RecordHeaders;

/// Some bytes of a file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordChunk {
    /// The run.
    pub run: RunId,
    /// The delivery of the run that wrote them.
    pub delivery: u64,
    /// The name of the file.
    pub file: String,
    /// The offset in the file at which they begin.
    pub at: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// Reads a chunk; `None` for a message that is not ours, or whose file does not travel.
pub(super) fn read(message: &Message) -> Option<RecordChunk> {
    let mut tokens = message.subject.as_str().rsplit('.');
    let delivery = tokens.next()?.parse().ok()?;
    let run = RunId::parse(tokens.next()?).ok()?;
    let headers = RecordHeaders::of(message.headers.as_ref()?).ok()?;
    travels(&headers.file).then_some(RecordChunk {
        run,
        delivery,
        file: headers.file,
        at: headers.at,
        bytes: message.payload.clone(),
    })
}
