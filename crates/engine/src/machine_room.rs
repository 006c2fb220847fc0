//! Claims room for children on this machine, together with all other owners of the user.
//!
//! Each owner has a file with its children, which it holds locked. The file of an owner that was
//! killed is not locked any more, so the next owner that looks removes it: no count can leak. The
//! decision is a pure rule of `vocabulary`; whoever decides holds the lock of the directory.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pi_subagents_files::{PassingLock, create_directories, lock_directory, try_lock};
use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::{ClaimedChild, MachineLoad, RoomShortage, Runner};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::warn;

/// The longest time for which an owner waits for another one that decides.
const PATIENCE: Duration = Duration::from_secs(2);

/// No owner has so many children that its file is longer.
const LONGEST_FILE: u64 = 1 << 20;

const MEGABYTE: u64 = 1_000_000;

/// Where the owners of a user meet, and what the user has set.
#[derive(Debug, Clone, Default)]
pub struct MeetingPlace {
    /// The directory of the claims; an owner without one asks nobody.
    pub directory: Option<PathBuf>,
    /// The most children at once of all owners.
    pub most: Option<usize>,
}

/// The claims of one owner.
#[derive(Debug)]
pub(crate) struct MachineRoom {
    place: MeetingPlace,
    /// The number of children that the owner may have at once.
    own_limit: usize,
    own: Mutex<OwnClaims>,
}

#[derive(Debug, Default)]
struct OwnClaims {
    /// It is there while there are children.
    file: Option<PassingLock>,
    children: Vec<ClaimedChild>,
}

/// The room of one child, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    room: Arc<MachineRoom>,
    child: ClaimedChild,
}

impl MachineRoom {
    pub(crate) fn new(place: MeetingPlace, own_limit: usize) -> Arc<Self> {
        Arc::new(Self {
            place,
            own_limit,
            own: Mutex::default(),
        })
    }

    /// Claims room for a child, or says what is missing. An error of a file claims nothing and keeps
    /// nobody waiting: room is a comfort, and a full disk is not a reason to stand still.
    pub(crate) async fn claim(self: &Arc<Self>, runner: Runner) -> Result<Claim, RoomShortage> {
        self.claim_by(runner, move |load| load.shortage(runner))
            .await
    }

    /// Claims room for a child that nobody waits for yet, if another one fits beside it.
    pub(crate) async fn claim_spare(
        self: &Arc<Self>,
        runner: Runner,
    ) -> Result<Claim, RoomShortage> {
        self.claim_by(runner, move |load| load.shortage_beside_spare(runner))
            .await
    }

    async fn claim_by(
        self: &Arc<Self>,
        runner: Runner,
        shortage: impl FnOnce(MachineLoad) -> Option<RoomShortage> + Send + 'static,
    ) -> Result<Claim, RoomShortage> {
        let child = ClaimedChild {
            runner,
            since: milliseconds(),
        };
        let room = Arc::clone(self);
        let asked = spawn_blocking(move || room.ask(child, shortage)).await;
        match asked {
            Ok(Ok(Some(shortage))) => return Err(shortage),
            Ok(Ok(None)) => {}
            Ok(Err(error)) => warn!(%error, "the room of this machine is not known"),
            Err(error) => warn!(%error, "the room of this machine was not asked for"),
        }
        Ok(Claim {
            room: Arc::clone(self),
            child,
        })
    }

    fn ask(
        &self,
        child: ClaimedChild,
        shortage: impl FnOnce(MachineLoad) -> Option<RoomShortage>,
    ) -> io::Result<Option<RoomShortage>> {
        let Some(directory) = &self.place.directory else {
            return Ok(None);
        };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        create_directories(directory)?;
        let _deciding = lock_directory(directory, PATIENCE).map_err(io::Error::other)?;
        let mut children = Vec::new();
        for entry in fs::read_dir(directory)? {
            // A file that can be locked is of an owner that is gone, and goes with the lock.
            if let Err(file) = try_lock(&entry?.path())? {
                children.extend(claims_in(file).into_iter().flatten());
            }
        }
        let load = MachineLoad {
            free_memory: System::free_memory().map(|bytes| bytes / MEGABYTE),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            most: self.place.most,
            own_limit: self.own_limit,
            children,
            now: child.since,
        };
        if let Some(shortage) = shortage(load) {
            return Ok(Some(shortage));
        }
        own.children.push(child);
        if own.file.is_none() {
            own.file = Some(new_file(&directory.join(file_name()?))?);
        }
        own.write()?;
        Ok(None)
    }

    fn give_back(&self, child: ClaimedChild) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = self.place.directory.as_ref();
        // Without the lock somebody may read half a file, and counts a child too many or too few.
        let _deciding = directory.map(|directory| lock_directory(directory, PATIENCE));
        let place = own.children.iter().position(|claimed| *claimed == child);
        let Some(place) = place else {
            return;
        };
        own.children.swap_remove(place);
        if own.children.is_empty() {
            own.file = None;
        } else if let Err(error) = own.write() {
            warn!(%error, "a place on this machine could not be given back");
        }
    }
}

impl OwnClaims {
    fn write(&self) -> io::Result<()> {
        let Some(mut file) = self.file.as_ref().map(PassingLock::file) else {
            return Ok(());
        };
        let text = serde_json::to_vec(&self.children)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&text)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let (room, child) = (Arc::clone(&self.room), self.child);
        if Handle::try_current().is_ok() {
            // Nobody waits for it; the next owner that asks sees it.
            spawn_blocking(move || room.give_back(child));
        } else {
            room.give_back(child);
        }
    }
}

/// Reads the claims of another owner. A file that somebody is writing has none.
fn claims_in(file: File) -> Option<Vec<ClaimedChild>> {
    let mut text = Vec::new();
    file.take(LONGEST_FILE).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn new_file(path: &Path) -> io::Result<PassingLock> {
    try_lock(path)?.map_err(|_| io::ErrorKind::AlreadyExists.into())
}

fn file_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    System::random(&mut bytes)?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn owner(directory: &Path) -> Arc<MachineRoom> {
        let place = MeetingPlace {
            directory: Some(directory.join("room")),
            most: Some(3),
        };
        MachineRoom::new(place, 16)
    }

    fn files(directory: &Path) -> usize {
        fs::read_dir(directory.join("room")).unwrap().count()
    }

    #[tokio::test]
    async fn two_owners_share_the_places_and_give_them_back() {
        let root = tempfile::tempdir().unwrap();
        let (one, other) = (owner(root.path()), owner(root.path()));
        let first = one.claim(Runner::Embedded).await.unwrap();
        let second = one.claim(Runner::Embedded).await.unwrap();
        let third = other.claim(Runner::Pi).await.unwrap();
        let full = RoomShortage::Setting { most: 3 };
        for owner in [&one, &other] {
            assert_eq!(owner.claim(Runner::Pi).await.unwrap_err(), full);
        }
        assert_eq!(files(root.path()), 2);
        one.give_back(first.child);
        let fourth = other.claim(Runner::Pi).await.unwrap();
        assert_eq!(one.claim(Runner::Pi).await.unwrap_err(), full);
        for claim in [second, third, fourth] {
            claim.room.give_back(claim.child);
        }
        assert_eq!(files(root.path()), 0);
    }

    #[tokio::test]
    async fn the_places_of_an_owner_that_is_gone_are_free() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("room");
        create_directories(&place).unwrap();
        let left = ClaimedChild {
            runner: Runner::Pi,
            since: 0,
        };
        let text = serde_json::to_vec(&[left; 3]).unwrap();
        fs::write(place.join("left"), text).unwrap();
        let claim = owner(root.path()).claim(Runner::Pi).await.unwrap();
        assert_eq!(files(root.path()), 1);
        claim.room.give_back(claim.child);
        assert_eq!(files(root.path()), 0);
    }
}
