//! The conversation that a run of this worker continues: taken before the child begins, saved with
//! the end of the run.

use std::path::{Path, PathBuf};

use pi_subagents_fleet_queue::wire::{Conversation, Order, SavedSession, SessionHolder};
use pi_subagents_fleet_queue::{Fleet, Held, HeldSession, TakenSession, Taker};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::Ending;
use tempfile::TempDir;
use tracing::warn;

use super::ground::ARRIVING;
use super::worker_lines::print_line;
use crate::runs::conversation::{fetch, save};

/// A conversation that a run of this worker has.
pub(super) struct HeldConversation {
    session: HeldSession,
    /// The directory with what was said so far; none if nothing was.
    fetched: Option<(TempDir, PathBuf)>,
}

/// Why a run cannot go on with its conversation.
pub(super) enum Unheld {
    InUse {
        session: String,
        holder: SessionHolder,
    },
    NotFetched(String),
}

impl Unheld {
    /// Returns how the run ends.
    pub(super) fn into_ending(self) -> Ending {
        match self {
            Self::InUse { session, holder } => Ending::SessionInUse {
                file: Path::new("in the fleet").to_owned(),
                session,
                holder: Some(match holder.machine {
                    Some(machine) => format!("{} on {machine}", holder.run),
                    None => holder.run,
                }),
            },
            Self::NotFetched(why) => Ending::Refused {
                message: format!("its conversation could not be had from the fleet: {why}"),
            },
        }
    }
}

impl HeldConversation {
    /// Takes the conversation of an order and fetches what was said; none if the run begins one of
    /// its own.
    pub(super) async fn take(
        fleet: &Fleet,
        order: &Order,
        held: &Held,
        root: &Path,
    ) -> Result<Option<Self>, Unheld> {
        let Conversation::Sticky(sticky) = &order.conversation else {
            return Ok(None);
        };
        let taker = Taker {
            holder: SessionHolder {
                run: held.run().to_string(),
                n: held.n(),
                machine: None,
            },
            is_over: None,
        };
        let session = fleet.take_session(&sticky.key, &taker).await;
        let session = match session.map_err(|error| Unheld::NotFetched(error.to_string()))? {
            TakenSession::Mine(session) => session,
            TakenSession::InUse(holder) => {
                let session = order.session.clone();
                return Err(Unheld::InUse { session, holder });
            }
        };
        let fetched = match session.saved() {
            Some(saved) => fetched(fleet, saved, root).await.map(Some),
            None => Ok(None),
        };
        match fetched {
            Ok(fetched) => Ok(Some(Self { session, fetched })),
            Err(why) => {
                give_back(session, None).await;
                Err(Unheld::NotFetched(why))
            }
        }
    }

    /// Returns the file with what was said so far.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.fetched.as_ref().map(|(_, file)| file.clone())
    }

    /// Stores what was said by now. It counts when the run ends with it.
    pub(super) async fn save(
        &self,
        fleet: &Fleet,
        held: &Held,
        directory: &RunDir,
    ) -> Option<SavedSession> {
        let key = self.session.key();
        let file = directory.child_session();
        match save(fleet, key, held.run(), held.n(), &file).await {
            Ok(saved) => saved,
            Err(why) => {
                let note = format!("what was said in this run is not kept: {why}");
                print_line(&format!("{}: {note}", held.run()));
                // The caller reads it in the record; if it cannot be written, our own words are left.
                _ = directory.warn(&note);
                None
            }
        }
    }

    /// Lets others go on with it.
    pub(super) async fn give_back(self, saved: Option<SavedSession>) {
        give_back(self.session, saved).await;
    }
}

async fn fetched(
    fleet: &Fleet,
    saved: &SavedSession,
    root: &Path,
) -> Result<(TempDir, PathBuf), String> {
    let scratch = TempDir::new_in(root.join(ARRIVING)).map_err(|error| error.to_string())?;
    let file = fetch(fleet, saved, scratch.path()).await?;
    Ok((scratch, file))
}

async fn give_back(session: HeldSession, saved: Option<SavedSession>) {
    // The end of the run says the same, and whoever comes next looks at it.
    if let Err(error) = session.give_back(saved).await {
        warn!(%error, "conversation is not given back");
    }
}
