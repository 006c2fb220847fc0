//! Removes the records of runs: the index notes that a run was removed, its directory gets a name
//! that nobody lists, and only then is it deleted. A process that is killed in between leaves a run
//! that is whole, or a removed run whose remains the next removal deletes.
//!
//! Only a directory that holds a record of this very run is touched, in a place that belongs to the
//! user, and no link is followed. See `docs/design/keeping-house.md`.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, LockError};
use pi_subagents_vocabulary::{RunId, Timestamp};

use crate::index::{Alone, IndexedRun};
use crate::record_files::parse_meta;
use crate::run_dir::{self, RunDir};
use crate::runs_place;
use crate::store::Store;

/// The name of a run's directory once it is no record any more begins with this.
const SET_ASIDE: &str = ".removing-";

/// Removes runs of one user. It holds open the directories of their records.
pub struct Removal<'a> {
    store: &'a Store,
    places: HashMap<PathBuf, Place>,
}

/// A directory that holds records, or the reason why it is not touched.
type Place = Result<Directory, io::Error>;

/// The index, while no other process writes to it.
pub struct QuietIndex {
    index: Alone,
    at: Timestamp,
}

impl<'a> Removal<'a> {
    /// Makes a removal that has not removed anything yet.
    pub fn new(store: &'a Store) -> Self {
        Self {
            store,
            places: HashMap::new(),
        }
    }

    /// Returns why the directory of a run must not be removed. A directory that is gone already is
    /// no obstacle: then only the index has something to forget.
    pub fn obstacle(&mut self, run: &IndexedRun) -> Option<io::Error> {
        match self.record_of(run) {
            Ok(()) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(error),
        }
    }

    /// Returns how many bytes of the disk a run takes; zero for a run that cannot be read.
    pub fn disk_use(&mut self, run: &IndexedRun) -> u64 {
        let name = Path::new(run.run.as_str());
        let place = self.place(&run.directory);
        place.and_then(|place| place.disk_use(name)).unwrap_or(0)
    }

    /// Deletes the set-aside directory of a run. Returns whether there was one.
    pub fn delete(&mut self, directory: &RunDir, run: &RunId) -> io::Result<bool> {
        let name = set_aside_name(run);
        let place = match self.place(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            place => place?,
        };
        if !place.has(&name)? {
            return Ok(false);
        }
        place.remove_tree(&name)?;
        Ok(true)
    }

    /// Checks that a directory holds the record of this run.
    fn record_of(&mut self, run: &IndexedRun) -> io::Result<()> {
        let name = Path::new(run.run.as_str());
        if run.directory.path().file_name() != Some(name.as_os_str()) {
            return Err(not_a_record("it does not have the name of the run"));
        }
        let directory = self.place(&run.directory)?.directory(name)?;
        let content = directory.read(Path::new(run_dir::META), run_dir::LARGEST_WHOLE_FILE);
        let content = content.map_err(|_| not_a_record("it has no meta.json"))?;
        match parse_meta(&run.directory, &content) {
            Ok((_, task)) if task.run == run.run => Ok(()),
            Ok(_) => Err(not_a_record("its meta.json is that of another run")),
            Err(_) => Err(not_a_record("its meta.json cannot be read")),
        }
    }

    fn place(&mut self, directory: &RunDir) -> io::Result<&Directory> {
        let runs = directory.path().parent().unwrap_or(Path::new("/"));
        if !self.places.contains_key(runs) {
            let opened = runs_place::open_recorded(runs, &self.store.runs_elsewhere());
            self.places.insert(runs.to_owned(), opened);
        }
        match self.places.get(runs) {
            Some(Ok(place)) => Ok(place),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl QuietIndex {
    /// Waits until nobody writes to the index, and keeps other writers out. Removals are noted with
    /// this time.
    pub fn wait(store: &Store, at: Timestamp) -> Result<Self, LockError> {
        let index = Alone::with(&store.index())?;
        Ok(Self { index, at })
    }

    /// Returns how long the index is: a decision made when it was as long still holds.
    pub fn index_length(&self) -> io::Result<u64> {
        self.index.length()
    }

    /// Takes a run out of the index and its directory out of sight.
    pub fn set_aside(&self, removal: &mut Removal<'_>, run: &IndexedRun) -> io::Result<()> {
        if let Some(obstacle) = removal.obstacle(run) {
            return Err(obstacle);
        }
        self.index.note_removal(run, self.at)?;
        let renamed = removal
            .place(&run.directory)
            .and_then(|place| place.rename(Path::new(run.run.as_str()), &set_aside_name(&run.run)));
        match renamed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.index.enter_again(run)?;
                Err(error)
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Rewrites the index without superfluous lines.
    pub fn compact(self) -> io::Result<()> {
        self.index.compact(self.at)
    }
}

fn set_aside_name(run: &RunId) -> PathBuf {
    PathBuf::from(format!("{SET_ASIDE}{run}"))
}

fn not_a_record(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}
