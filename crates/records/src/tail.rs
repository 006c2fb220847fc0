//! Reads the record of a run from its beginning, and goes on as it grows.

use bytes::Bytes;
use pi_subagents_vocabulary::{Happening, RunEvent};

use crate::growing_file::GrowingFile;
use crate::placed_events::{PlacedEvent, placed};
use crate::record_files::RecordError;
use crate::replay::{self, Reading};
use crate::run_dir::RunDir;

/// The number of bytes of each log that are shown although they were written before anybody
/// followed the run.
const OLD_TEXT: u64 = 64 << 10;

/// Follows the record of one run from its beginning, while another process writes it.
///
/// The child's other output is in logs of its own, without times. It is returned behind the events
/// that were found with it.
#[derive(Debug)]
pub struct RecordTail {
    directory: RunDir,
    reading: Option<Reading>,
    events: GrowingFile,
    stdout: GrowingFile,
    stderr: GrowingFile,
}

impl RecordTail {
    /// Makes a reader at the beginning of a record.
    pub fn new(directory: &RunDir) -> Self {
        Self {
            reading: None,
            events: GrowingFile::from_beginning(directory.events()),
            stdout: GrowingFile::from_last(directory.stdout(), OLD_TEXT),
            stderr: GrowingFile::from_last(directory.stderr(), OLD_TEXT),
            directory: directory.clone(),
        }
    }

    /// Reads about this number of bytes further and returns their events; empty if there is nothing
    /// more for now.
    pub fn next(&mut self, bytes: usize) -> Result<Vec<RunEvent>, RecordError> {
        loop {
            let found = self.next_placed(bytes)?;
            let is_end = found.is_empty();
            let events: Vec<RunEvent> = found.into_iter().filter_map(|one| one.event).collect();
            // Some lines hold no event, and the lines behind them must not wait.
            if is_end || !events.is_empty() {
                return Ok(events);
            }
        }
    }

    /// Does the same, and returns the places of the events and the lines that cannot be read too.
    /// The task and the child's other output have the place behind the last event.
    pub fn next_placed(&mut self, bytes: usize) -> Result<Vec<PlacedEvent>, RecordError> {
        let mut found = Vec::new();
        let reading = if let Some(reading) = &mut self.reading {
            reading
        } else {
            let accepted = replay::accepted(&self.directory)?;
            let begun = Reading::after(&accepted);
            found.push(PlacedEvent {
                place: 0,
                event: Some(accepted),
            });
            self.reading.insert(begun)
        };
        let mut is_more = true;
        while is_more {
            let next = self.events.next_placed(bytes, |place, line| {
                found.extend(placed(place, line, reading));
            });
            let next =
                next.map_err(|error| RecordError::new(self.events.path().to_owned(), error))?;
            is_more = next && found.is_empty();
        }
        if found.is_empty() {
            let place = self.events.place();
            let mut add = |happening| {
                let event = Some(reading.at_this_time(happening));
                found.push(PlacedEvent { place, event });
            };
            next_lines(&mut self.stdout, bytes, |line| {
                add(Happening::Printed(Bytes::copy_from_slice(line)));
            })?;
            next_lines(&mut self.stderr, bytes, |line| {
                let words = String::from_utf8_lossy(line).into_owned();
                add(Happening::Complained(words));
            })?;
        }
        Ok(found)
    }

    /// Returns the place behind the last event that was read.
    pub fn place(&self) -> u64 {
        self.events.place()
    }
}

fn next_lines(
    file: &mut GrowingFile,
    bytes: usize,
    each: impl FnMut(&[u8]),
) -> Result<bool, RecordError> {
    let next = file.next(bytes, each);
    next.map_err(|error| RecordError::new(file.path().to_owned(), error))
}
