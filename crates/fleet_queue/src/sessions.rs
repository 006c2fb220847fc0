//! Conversations that runs on several machines continue: taken by one run at a time, and given back
//! with what was said.

use std::time::Duration;

use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::held_run::Kept;
use crate::holder_rule::{Holding, Taker, decide};
use crate::patience::Patience;
use crate::runs::json;
use crate::store::{Stored, Written};
use crate::wire::{RunEntry, SavedSession, SessionEntry, SessionHolder};

/// The number of times that a write which others prevent is tried again.
const TRIES: u32 = 20;

/// The time for which a conversation is waited for while the servers choose a leader.
const NO_LEADER: Duration = Duration::from_secs(20);

/// The outcome of taking a conversation.
#[derive(Debug)]
pub enum TakenSession {
    /// It was taken.
    Mine(HeldSession),
    /// This run has it.
    InUse(SessionHolder),
}

/// A conversation that a run has.
#[derive(Debug)]
pub struct HeldSession {
    fleet: Fleet,
    key: String,
    revision: u64,
    saved: Option<SavedSession>,
}

impl Fleet {
    /// Returns the state of a conversation, if the fleet knows it.
    pub async fn session(&self, key: &str) -> Result<Option<Stored<SessionEntry>>, FleetError> {
        let patience = Patience::of(NO_LEADER);
        loop {
            match self.read(&self.names().sessions(), key).await {
                Ok(seen) => return Ok(seen),
                Err(error) => patience.after(error).await?,
            }
        }
    }

    /// Returns who has a conversation and what is saved of it, if the fleet knows it.
    pub async fn look_at_session(&self, key: &str) -> Result<Option<SessionEntry>, FleetError> {
        let Some(stored) = self.session(key).await? else {
            return Ok(None);
        };
        let mut entry = stored.value;
        // The worker that ended its run has saved it, and may have died before giving it back.
        if let Some(RunEntry::Ended(ended)) = self.state_of_holder(&entry).await? {
            entry.saved = ended.session.or(entry.saved);
            entry.holder = None;
        }
        Ok(Some(entry))
    }

    /// Takes a conversation for a run, unless another run has it.
    pub async fn take_session(&self, key: &str, taker: &Taker) -> Result<TakenSession, FleetError> {
        let patience = Patience::of(NO_LEADER);
        loop {
            match self.take_session_now(key, taker).await {
                Ok(done) => return Ok(done),
                // If our own write was done without an answer, it says that the taker has it.
                Err(error) => patience.after(error).await?,
            }
        }
    }

    async fn take_session_now(&self, key: &str, taker: &Taker) -> Result<TakenSession, FleetError> {
        let mut tried = 0;
        loop {
            tried += 1;
            let seen = self.session(key).await?;
            let entry = seen.as_ref().map(|stored| &stored.value);
            let saved = match self.holding(entry, taker).await? {
                Holding::Free(saved) => saved,
                Holding::InUse(holder) => return Ok(TakenSession::InUse(holder)),
            };
            let entry = SessionEntry {
                holder: Some(taker.holder.clone()),
                saved: saved.clone(),
            };
            let over = seen.map_or(0, |stored| stored.revision);
            let bucket = self.names().sessions();
            match self.write(&bucket, key, json(&entry), over).await? {
                Written::At(revision) => {
                    return Ok(TakenSession::Mine(HeldSession {
                        fleet: self.clone(),
                        key: key.to_owned(),
                        revision,
                        saved,
                    }));
                }
                Written::Late if tried < TRIES => {}
                Written::Late => {
                    return Err(FleetError::NotSent {
                        subject: key.to_owned(),
                        why: format!("others wrote before us {TRIES} times in a row"),
                    });
                }
            }
        }
    }

    async fn holding(
        &self,
        entry: Option<&SessionEntry>,
        taker: &Taker,
    ) -> Result<Holding, FleetError> {
        let of_holder = match entry {
            Some(entry) => self.state_of_holder(entry).await?,
            None => None,
        };
        Ok(decide(entry, of_holder.as_ref(), taker))
    }

    /// Returns the state of the run that has a conversation, if a worker does that run.
    async fn state_of_holder(&self, entry: &SessionEntry) -> Result<Option<RunEntry>, FleetError> {
        let holder = entry.holder.as_ref();
        let done_by_worker = holder.filter(|holder| holder.machine.is_none());
        let run = done_by_worker.and_then(|holder| RunId::parse(&holder.run).ok());
        let Some(run) = run else { return Ok(None) };
        Ok(self.entry(&run).await?.map(|stored| stored.value))
    }
}

impl HeldSession {
    /// Returns its key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the object behind which it goes on; none if nothing was said yet.
    pub fn saved(&self) -> Option<&SavedSession> {
        self.saved.as_ref()
    }

    /// Gives it back, with the object that holds everything now; none leaves what was there. A
    /// holder that was fenced meanwhile changes nothing.
    pub async fn give_back(self, saved: Option<SavedSession>) -> Result<Kept, FleetError> {
        let entry = SessionEntry {
            holder: None,
            saved: saved.or(self.saved),
        };
        let bucket = self.fleet.names().sessions();
        let written = self
            .fleet
            .write(&bucket, &self.key, json(&entry), self.revision)
            .await?;
        if matches!(written, Written::At(_)) {
            return Ok(Kept::Done);
        }
        // It may be our own write, whose answer never came.
        let seen = self.fleet.session(&self.key).await?;
        Ok(match seen {
            Some(stored) if stored.value == entry => Kept::Done,
            Some(_) | None => Kept::Fenced,
        })
    }
}
