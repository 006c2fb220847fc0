//! Reads and writes the store of runs: their entries, the wishes about them, and whether somebody
//! waits for them.

use std::collections::HashMap;

use bytes::Bytes;
use jiff::Timestamp;
use pi_subagents_vocabulary::RunId;
use serde::Serialize;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::{CARD, card_key, is_run_key, run_key, run_of_card, wish_key};
use crate::store::{Stored, Written};
use crate::wire::{Ended, RunCard, RunEntry, SeenEntry, StopWish, Wish};

/// The number of times that a write which others prevent is tried again.
const TRIES: u32 = 20;

/// The outcome of ending a run for its caller.
#[derive(Debug, Clone, PartialEq)]
pub enum CallerEnd {
    /// It has ended so.
    Now,
    /// It had ended otherwise before.
    Before(Box<Ended>),
}

impl Fleet {
    /// Returns the entry of a run; a run without an entry is queued, or not known.
    pub async fn entry(&self, run: &RunId) -> Result<Option<Stored<RunEntry>>, FleetError> {
        self.read(&self.names().runs(), &run_key(run)).await
    }

    /// Returns the entry of a run as it is found, also if it cannot be read. The revision is 0 if the
    /// entry was never written.
    pub async fn look_at_entry(&self, run: &RunId) -> Result<Stored<SeenEntry>, FleetError> {
        let last = self.last_write(&self.names().runs(), &run_key(run)).await?;
        let revision = last.as_ref().map_or(0, |write| write.revision);
        let value = last.and_then(|write| write.value);
        Ok(Stored {
            value: SeenEntry::of(value.as_deref()),
            revision,
        })
    }

    /// Returns the entries of all runs that the fleet remembers.
    pub async fn entries(&self) -> Result<HashMap<String, RunEntry>, FleetError> {
        let bucket = self.names().runs();
        let writes = self.list(&bucket).await?;
        let states = writes.into_iter().filter(|write| is_run_key(&write.key));
        let mut entries = HashMap::new();
        for write in states {
            // An entry that is not understood was written by a newer version.
            let entry = write
                .value
                .and_then(|value| serde_json::from_slice(&value).ok());
            if let Some(entry) = entry {
                entries.insert(write.key, entry);
            }
        }
        Ok(entries)
    }

    /// Writes the card of a run, which others read who know only its id.
    pub async fn put_card(&self, run: &RunId, card: &RunCard) -> Result<(), FleetError> {
        let bucket = self.names().runs();
        self.overwrite(&bucket, &card_key(run), json(card)).await
    }

    /// Returns the card of a run, if the fleet remembers it.
    pub async fn card(&self, run: &RunId) -> Result<Option<RunCard>, FleetError> {
        let card = self.read(&self.names().runs(), &card_key(run)).await?;
        Ok(card.map(|stored: Stored<RunCard>| stored.value))
    }

    /// Returns the cards of all runs that the fleet remembers, in the order in which they were
    /// given.
    pub async fn cards(&self) -> Result<Vec<(RunId, RunCard)>, FleetError> {
        let writes = self.list_under(&self.names().runs(), CARD).await?;
        let cards = writes.into_iter().filter_map(|write| {
            let run = run_of_card(&write.key)?;
            // A card that is not understood was written by a newer version.
            let card = serde_json::from_slice(&write.value?).ok()?;
            Some((run, card))
        });
        Ok(cards.collect())
    }

    /// Returns who wants a run to be stopped, if anybody does.
    pub async fn stop_wish(&self, run: &RunId) -> Result<Option<StopWish>, FleetError> {
        Ok(self.wish(run).await?.and_then(|wish| wish.value.stop))
    }

    /// Returns the wish about a run. A wish that cannot be read is none: somebody has spoilt it, and
    /// the run goes on.
    pub async fn wish(&self, run: &RunId) -> Result<Option<Stored<Wish>>, FleetError> {
        let last = self
            .last_write(&self.names().runs(), &wish_key(run))
            .await?;
        let wish = last.and_then(|write| {
            let value = serde_json::from_slice(&write.value?).ok()?;
            let revision = write.revision;
            Some(Stored { value, revision })
        });
        Ok(wish)
    }

    /// Wishes that a run be stopped. The worker that has the run sees the wish with its next sign
    /// of life, and a worker that takes it later ends it; `control` is quicker for a run that a
    /// worker has.
    pub async fn wish_stop(&self, run: &RunId, by: &str) -> Result<(), FleetError> {
        let by = by.to_owned();
        let at = Timestamp::now().to_string();
        self.change_wish(run, |wish| {
            wish.stop = Some(StopWish {
                by: by.clone(),
                at: at.clone(),
            });
        })
        .await
    }

    /// Notes that the caller has everything of a run, so that its worker may remove its copy.
    pub async fn wish_kept(&self, run: &RunId) -> Result<(), FleetError> {
        self.change_wish(run, |wish| wish.kept = true).await
    }

    async fn change_wish(&self, run: &RunId, change: impl Fn(&mut Wish)) -> Result<(), FleetError> {
        let (bucket, key) = (self.names().runs(), wish_key(run));
        for _ in 0..TRIES {
            let seen = self.last_write(&bucket, &key).await?;
            let over = seen.as_ref().map_or(0, |write| write.revision);
            let value = seen.and_then(|write| write.value);
            let mut wish: Wish = value
                .and_then(|value| serde_json::from_slice(&value).ok())
                .unwrap_or_default();
            change(&mut wish);
            if self.write(&bucket, &key, json(&wish), over).await? != Written::Late {
                return Ok(());
            }
        }
        Err(too_many(&key))
    }

    /// Ends a run for its caller, who has asked its worker in vain, and takes its order out of the
    /// queue. A worker that takes, begins or ends the run at the same moment writes before us, or
    /// finds that the run has ended: only one of the two succeeds.
    pub async fn end_for_caller(
        &self,
        run: &RunId,
        ended: &Ended,
    ) -> Result<CallerEnd, FleetError> {
        for _ in 0..TRIES {
            let seen = self.look_at_entry(run).await?;
            if let Some(RunEntry::Ended(found)) = seen.value.state() {
                // It may be our own write, whose answer never came.
                if **found != *ended {
                    return Ok(CallerEnd::Before(found.clone()));
                }
                break;
            }
            if self.end_over(run, seen.revision, ended).await? {
                break;
            }
        }
        self.withdraw(run).await?;
        Ok(CallerEnd::Now)
    }

    /// Ends a run whose entry has this revision. Returns false if somebody wrote meanwhile.
    pub async fn end_over(
        &self,
        run: &RunId,
        revision: u64,
        ended: &Ended,
    ) -> Result<bool, FleetError> {
        let entry = RunEntry::Ended(Box::new(ended.clone()));
        let (bucket, key) = (self.names().runs(), run_key(run));
        let written = self.write(&bucket, &key, json(&entry), revision).await?;
        Ok(written != Written::Late)
    }
}

/// Returns a value as the bytes of its JSON.
pub(crate) fn json(value: &impl Serialize) -> Bytes {
    // Our messages have string keys and finite numbers, so that this cannot fail.
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn too_many(key: &str) -> FleetError {
    FleetError::NotSent {
        subject: key.to_owned(),
        why: format!("others wrote before us {TRIES} times in a row"),
    }
}
