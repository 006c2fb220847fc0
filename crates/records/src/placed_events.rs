//! Reads the record of a run from any place in it, and knows the place of each event. A reader that
//! went away goes on where it was.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use pi_subagents_files as files;
use pi_subagents_vocabulary::RunEvent;

use crate::growing_file::GrowingFile;
use crate::record_files::RecordError;
use crate::record_line::LONGEST_LINE;
use crate::replay::{Reading, accepted};
use crate::run_dir::{self, RunDir};

/// The number of bytes before a place in which the time of that place is looked for.
const LOOK_BACK: u64 = 64 << 10;

/// An event with its place in the record.
#[derive(Debug, Clone)]
pub struct PlacedEvent {
    /// The place at which its line begins.
    pub place: u64,
    /// The event; `None` for a line that cannot be read.
    pub event: Option<RunEvent>,
}

/// Reads the events of a run from a place on.
#[derive(Debug)]
pub struct PlacedReader {
    accepted: RunEvent,
    reading: Reading,
    events: GrowingFile,
}

impl PlacedReader {
    /// Makes a reader at a place that an earlier reader has reached, or at the beginning.
    pub fn at(directory: &RunDir, place: u64) -> Result<Self, RecordError> {
        let accepted = accepted(directory)?;
        let mut reading = Reading::after(&accepted);
        let unreadable = |error| RecordError::of_events(directory, error);
        let place = if place == 0 {
            0
        } else {
            line_at(directory, place, &mut reading).map_err(unreadable)?
        };
        Ok(Self {
            accepted,
            reading,
            events: GrowingFile::from_place(directory.events(), place),
        })
    }

    /// Makes a reader that begins about this number of bytes before the end of the record.
    pub fn before_end(directory: &RunDir, bytes: u64) -> Result<Self, RecordError> {
        let length = directory.open_file(run_dir::EVENTS).and_then(|file| {
            let length = file.metadata()?.len();
            Ok(length)
        });
        Self::at(directory, length.unwrap_or(0).saturating_sub(bytes))
    }

    /// Returns the first event of the run, which has no line.
    pub fn accepted(&self) -> &RunEvent {
        &self.accepted
    }

    /// Returns the place behind the last line that was read.
    pub fn place(&self) -> u64 {
        self.events.place()
    }

    /// Reads about this number of bytes further; empty if there is nothing more for now.
    pub fn next(&mut self, bytes: usize) -> Result<Vec<PlacedEvent>, RecordError> {
        let mut found = Vec::new();
        let reading = &mut self.reading;
        let mut is_more = true;
        // Some lines hold no event, and the lines behind them must not wait.
        while is_more && found.is_empty() {
            let next = self.events.next_placed(bytes, |place, line| {
                found.extend(placed(place, line, reading));
            });
            is_more =
                next.map_err(|error| RecordError::new(self.events.path().to_owned(), error))?;
        }
        Ok(found)
    }
}

/// Returns the event of a line, or that the line cannot be read; `None` for a line without an event.
pub(crate) fn placed(place: u64, line: &[u8], reading: &mut Reading) -> Option<PlacedEvent> {
    if let Some(event) = reading.event(line) {
        let event = Some(event);
        return Some(PlacedEvent { place, event });
    }
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    (!is_json).then_some(PlacedEvent { place, event: None })
}

/// Returns the event whose line begins at a place; `None` if no line begins there.
pub fn event_at(directory: &RunDir, place: u64) -> Result<Option<RunEvent>, RecordError> {
    let mut reader = PlacedReader::at(directory, place)?;
    if reader.place() != place {
        return Ok(None);
    }
    let found = reader.next(1)?.into_iter().next();
    Ok(found
        .filter(|found| found.place == place)
        .and_then(|found| found.event))
}

/// Returns lines of the record as they are, from a place on, each with its place, and the place
/// behind them.
pub fn raw_lines(
    directory: &RunDir,
    place: u64,
    bytes: usize,
) -> Result<(Vec<(u64, String)>, u64), RecordError> {
    let mut file = GrowingFile::from_place(directory.events(), place);
    let mut lines = Vec::new();
    let read = file.next_placed(bytes, |place, line| {
        lines.push((place, String::from_utf8_lossy(line).into_owned()));
    });
    read.map_err(|error| RecordError::of_events(directory, error))?;
    Ok((lines, file.place()))
}

/// Returns the place of the first line that begins at a place or behind it, and learns the time of
/// that place from the lines before it.
fn line_at(directory: &RunDir, place: u64, reading: &mut Reading) -> io::Result<u64> {
    let mut file = match directory.open_file(run_dir::EVENTS) {
        Err(error) if files::is_absent(&error) => return Ok(0),
        other => other?,
    };
    let begin = place.saturating_sub(LOOK_BACK);
    file.seek(SeekFrom::Start(begin))?;
    let mut before = Vec::new();
    let wanted = place - begin;
    (&mut file).take(wanted).read_to_end(&mut before)?;
    if (before.len() as u64) < wanted {
        // The record was shorter than the reader thought: it is read anew.
        return Ok(0);
    }
    let whole = before.iter().rposition(|byte| *byte == b'\n');
    let Some(end) = whole else {
        return skip_line(&mut file, place);
    };
    for line in before[..=end].split_inclusive(|byte| *byte == b'\n') {
        // Only our own lines have a time.
        if line.starts_with(br#"{"type":"run_"#) {
            reading.event(line);
        }
    }
    if end + 1 == before.len() {
        Ok(place)
    } else {
        skip_line(&mut file, place)
    }
}

/// Returns the place behind the line in which a file is read.
fn skip_line(file: &mut impl io::Read, place: u64) -> io::Result<u64> {
    let mut reader = io::BufReader::new(file.take(LONGEST_LINE));
    let mut line = Vec::new();
    let skipped = io::BufRead::read_until(&mut reader, b'\n', &mut line)?;
    Ok(place + skipped as u64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pi_subagents_vocabulary::Happening;
    use pretty_assertions::assert_eq;

    use super::*;

    /// Makes a record with these events.
    fn record(events: &str) -> (tempfile::TempDir, RunDir) {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path().join("run"));
        fs::create_dir(directory.path()).unwrap();
        let meta = r#"{"format":1,"runId":"260101-000000-00000001","sessionId":"aaaaaaaaaaaaaaaa","name":"a","prompt":"p","cwd":"/","project":"/","acceptedAt":"2026-01-01T00:00:00Z","sequence":1,"owner":{"pid":1,"startTime":1,"host":"h","socket":null}}"#;
        fs::write(directory.meta(), meta).unwrap();
        fs::write(directory.events(), events).unwrap();
        (home, directory)
    }

    const EVENTS: &str = concat!(
        "{\"type\":\"run_warned\",\"at\":\"2026-01-01T00:00:01Z\",\"warning\":\"one\"}\n",
        "torn {\n",
        "{\"type\":\"run_warned\",\"at\":\"2026-01-01T00:00:02Z\",\"warning\":\"two\"}\n",
        "{\"type\":\"run_wa",
    );

    fn lines_of(found: &[PlacedEvent]) -> Vec<(u64, String)> {
        let words = |event: &RunEvent| match &event.happening {
            Happening::Warned(words) => format!("{} {words}", event.at),
            other => format!("{other:?}"),
        };
        let one = |found: &PlacedEvent| {
            let words = found.event.as_ref().map_or("unreadable".to_owned(), words);
            (found.place, words)
        };
        found.iter().map(one).collect()
    }

    #[test]
    fn events_know_their_places_and_a_torn_line_is_not_passed_over() {
        let (_home, directory) = record(EVENTS);
        let mut reader = PlacedReader::at(&directory, 0).unwrap();
        let found = lines_of(&reader.next(1 << 20).unwrap());
        let second = EVENTS.find("torn").unwrap() as u64;
        let third = second + 7;
        assert_eq!(
            found,
            [
                (0, "2026-01-01T00:00:01Z one".to_owned()),
                (second, "unreadable".to_owned()),
                (third, "2026-01-01T00:00:02Z two".to_owned()),
            ]
        );
        let end = reader.place();
        assert_eq!(end, EVENTS.rfind("{\"type").unwrap() as u64);
        let mut rest = fs::read_to_string(directory.events()).unwrap();
        rest.push_str("rned\",\"at\":\"2026-01-01T00:00:03Z\",\"warning\":\"three\"}\n");
        fs::write(directory.events(), rest).unwrap();
        let mut later = PlacedReader::at(&directory, end).unwrap();
        let found = lines_of(&later.next(1 << 20).unwrap());
        assert_eq!(found, [(end, "2026-01-01T00:00:03Z three".to_owned())]);
        let event = event_at(&directory, third).unwrap();
        assert_eq!(
            event.map(|event| event.at.to_string()).as_deref(),
            Some("2026-01-01T00:00:02Z")
        );
        assert!(event_at(&directory, third + 1).unwrap().is_none());
    }

    #[test]
    fn a_place_inside_a_line_leads_to_the_next_line_and_one_behind_the_end_to_the_beginning() {
        let (_home, directory) = record(EVENTS);
        let reader = PlacedReader::at(&directory, 3).unwrap();
        assert_eq!(reader.place(), EVENTS.find("torn").unwrap() as u64);
        assert_eq!(PlacedReader::at(&directory, 1 << 30).unwrap().place(), 0);
    }
}
