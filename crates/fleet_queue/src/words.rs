//! The words that the model of a run is just writing. They are not kept: whoever listens gets them,
//! and what is lost comes with the record.

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt as _;
use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::error::FleetError;

/// The words of one run, as they come.
#[derive(Debug)]
pub struct Words(Subscriber);

impl Words {
    /// Waits for the next words; `None` when no more can come.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.0.next().await.map(|message| message.payload)
    }
}

impl Fleet {
    /// Sends what the model of a run is writing to whoever listens.
    pub async fn send_words(&self, run: &RunId, words: Bytes) {
        // Words that nobody receives are in the record a moment later.
        _ = self
            .inner
            .client
            .publish(self.names().words(run), words)
            .await;
    }

    /// Listens to what the model of a run is writing.
    pub async fn listen(&self, run: &RunId) -> Result<Words, FleetError> {
        let subject = self.names().words(run);
        let listening = self.inner.client.subscribe(subject.clone()).await;
        listening.map(Words).map_err(|error| FleetError::NotSent {
            subject,
            why: error.to_string(),
        })
    }
}
