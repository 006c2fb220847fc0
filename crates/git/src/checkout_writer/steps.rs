//! The steps of a write: each path changes its place by one rename, and what came out is compared with
//! what was noted. A file that somebody saved meanwhile comes back to its place.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, EntryKind};

use super::journal::{Entry, Journal, Way};
use super::look::Look;
use super::recovery_rule::{Found, Stage};
use super::spot::Spot;

/// The largest number of directories inside each other that are looked at for an empty one.
const DEEPEST: usize = 64;

/// The outcome of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stepped {
    Done,
    /// Somebody has changed the path. It is as they left it.
    Edited,
}

/// The places of a write.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    /// The checkout.
    pub(super) top: &'a Directory,
    /// The folder with a slot for each new file and each file that was moved away.
    pub(super) slots: &'a Directory,
    pub(super) journal: &'a Journal,
}

/// The name of the slot of a new file. An exchange leaves the old file in it.
pub(super) fn slot(number: usize) -> PathBuf {
    number.to_string().into()
}

/// The name of the slot of an old file that was moved away.
pub(super) fn old_slot(number: usize) -> PathBuf {
    format!("{number}.old").into()
}

impl Steps<'_> {
    fn entry(&self, number: usize) -> &Entry {
        &self.journal.entries[number]
    }

    /// Looks at the places of an entry.
    pub(super) fn look(&self, number: usize) -> io::Result<Found> {
        Ok(Found {
            disk: Spot::look(self.top, &self.entry(number).path)?,
            slot: Look::at(self.slots, &slot(number))?,
            old: Look::at(self.slots, &old_slot(number))?,
        })
    }

    /// Returns the files in the slots of an entry.
    pub(super) fn look_at_slots(&self, number: usize) -> io::Result<Vec<(PathBuf, Look)>> {
        let mut found = Vec::new();
        for name in [old_slot(number), slot(number)] {
            if let Some(look) = Look::at(self.slots, &name)? {
                found.push((name, look));
            }
        }
        Ok(found)
    }

    /// Writes an entry that was not written.
    pub(super) fn forward(&self, number: usize) -> io::Result<Stepped> {
        let entry = self.entry(number);
        match (&entry.before, &entry.after) {
            (Some(_), None) => self.move_out(number),
            (Some(_), Some(_)) => match self.journal.way {
                Way::Exchange => self.exchange(number, entry.before.as_ref()),
                Way::TwoSteps => match self.move_out(number)? {
                    Stepped::Done => self.move_in(number),
                    Stepped::Edited => Ok(Stepped::Edited),
                },
            },
            (None, _) => self.move_in(number),
        }
    }

    /// Writes the rest of an entry whose old file is away.
    pub(super) fn finish(&self, number: usize) -> io::Result<Stepped> {
        self.move_in(number)
    }

    /// Takes back an entry that was written as far as a stage.
    pub(super) fn backward(&self, number: usize, stage: Stage) -> io::Result<Stepped> {
        let entry = self.entry(number);
        match (stage, &entry.before, &entry.after) {
            (Stage::Unwritten, ..) => Ok(Stepped::Done),
            (Stage::MovedOut, ..) | (Stage::Written, Some(_), None) => self.put_back(number),
            (Stage::Written, Some(_), Some(_)) => match self.journal.way {
                Way::Exchange => self.exchange(number, entry.after.as_ref()),
                Way::TwoSteps => match self.take_out(number)? {
                    Stepped::Done => self.put_back(number),
                    Stepped::Edited => Ok(Stepped::Edited),
                },
            },
            (Stage::Written, None, _) => self.take_out(number),
        }
    }

    /// Lets the file and its slot take each other's place. What comes out must look as expected.
    fn exchange(&self, number: usize, expected: Option<&Look>) -> io::Result<Stepped> {
        let Some(spot) = Spot::open(self.top, &self.entry(number).path)? else {
            return Ok(Stepped::Edited);
        };
        let own = slot(number);
        let put_in = Look::at(self.slots, &own)?;
        let swap = || spot.directory.exchange(&spot.name, self.slots, &own);
        match swap() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stepped::Edited),
            swapped => swapped?,
        }
        if Look::at(self.slots, &own)?.as_ref() == expected {
            return Ok(Stepped::Done);
        }
        swap()?;
        if Look::at(self.slots, &own)? != put_in {
            // Somebody has saved the file again in this moment, so that is the newest.
            swap()?;
        }
        Ok(Stepped::Edited)
    }

    /// Moves the old file away. It must look as it was noted.
    fn move_out(&self, number: usize) -> io::Result<Stepped> {
        let entry = self.entry(number);
        self.move_away(&entry.path, &old_slot(number), entry.before.as_ref())
    }

    /// Moves the new file away again. It must look as it was written.
    fn take_out(&self, number: usize) -> io::Result<Stepped> {
        let entry = self.entry(number);
        self.move_away(&entry.path, &slot(number), entry.after.as_ref())
    }

    fn move_away(&self, path: &Path, into: &Path, expected: Option<&Look>) -> io::Result<Stepped> {
        let Some(spot) = Spot::open(self.top, path)? else {
            return Ok(Stepped::Edited);
        };
        match spot.directory.move_to(&spot.name, self.slots, into) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stepped::Edited),
            moved => moved?,
        }
        if Look::at(self.slots, into)?.as_ref() == expected {
            return Ok(Stepped::Done);
        }
        match self.slots.move_to(into, &spot.directory, &spot.name) {
            // Somebody has saved it again in this moment, so that is the newest.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            moved => moved?,
        }
        Ok(Stepped::Edited)
    }

    /// Moves the new file to its place, where nothing may be.
    fn move_in(&self, number: usize) -> io::Result<Stepped> {
        let spot = Spot::make(self.top, &self.entry(number).path)?;
        self.fill(&slot(number), &spot)
    }

    /// Moves the old file back to its place.
    fn put_back(&self, number: usize) -> io::Result<Stepped> {
        let spot = Spot::make(self.top, &self.entry(number).path)?;
        self.fill(&old_slot(number), &spot)
    }

    /// Moves a file from a slot to its place. Directories that other files have left may be there.
    fn fill(&self, from: &Path, spot: &Spot) -> io::Result<Stepped> {
        remove_empty_directories(&spot.directory, &spot.name, DEEPEST)?;
        match self.slots.move_to(from, &spot.directory, &spot.name) {
            Ok(()) => Ok(Stepped::Done),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Stepped::Edited),
            Err(error) => Err(error),
        }
    }

    /// Removes directories that the write made or emptied. Those with something in them stay.
    pub(super) fn tidy(&self, is_written: bool) -> io::Result<()> {
        if is_written {
            let gone = self.journal.entries.iter();
            for entry in gone.filter(|entry| entry.after.is_none()) {
                Spot::prune(self.top, &entry.path)?;
            }
            return Ok(());
        }
        for directory in self.journal.made.iter().rev() {
            if let Some(spot) = Spot::open(self.top, directory)? {
                spot.directory.remove_empty(&spot.name)?;
            }
        }
        Ok(())
    }
}

/// Removes a directory in which there are only directories, so that a file can take its place.
fn remove_empty_directories(directory: &Directory, name: &Path, depth: usize) -> io::Result<()> {
    if depth == 0 || directory.entry_kind(name)? != Some(EntryKind::Directory) {
        return Ok(());
    }
    let inner = directory.directory(name)?;
    for entry in inner.list(usize::MAX)? {
        remove_empty_directories(&inner, Path::new(&entry.name), depth - 1)?;
    }
    directory.remove_empty(name)?;
    Ok(())
}
