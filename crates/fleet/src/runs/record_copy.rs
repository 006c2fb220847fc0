//! The copy of a record that a worker writes: the bytes of it that are here, and the place of the
//! next ones.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use pi_subagents_files::{Directory, PassingLock, try_lock};
use pi_subagents_fleet_queue::{
    ChunkFit, MOST_FILES, RecordChunk, chunk_fit, record_lengths, travels,
};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};

use pi_subagents_runs::fleet_outage::{Away, COPY_NOTE, LARGEST_NOTE};

/// The file that is locked while a process copies the record.
const LOCK: &str = "fleet.lock";

/// The facts that are written down about a copy. The length of a file shows how many of its bytes
/// are here, so that a crash leaves nothing untrue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    format: u32,
    /// The number of the delivery whose bytes are taken; 0 before the first.
    delivery: u64,
    /// The offset in each file at which the bytes of this delivery begin; 0 for a file that is not
    /// named.
    begins: BTreeMap<String, u64>,
    /// The absence of the servers that the last follower has noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    away: Option<Away>,
    /// The first look that found that nobody does the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubt: Option<Doubt>,
}

/// The doubt whether anybody does a run whose entry has this revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Doubt {
    revision: u64,
    since: Timestamp,
}

/// The copy of the record of one run. One process at a time has it.
#[derive(Debug)]
pub(super) struct CopiedRecord {
    directory: Directory,
    state: State,
    /// The length of each file here.
    lengths: BTreeMap<String, u64>,
    files: BTreeMap<String, File>,
    /// While this is held, no other process copies the record.
    _lock: PassingLock,
}

/// A file that lacks bytes here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) file: String,
    /// The number of its bytes that are here.
    pub(super) have: u64,
    /// The number of all its bytes.
    pub(super) all: u64,
}

impl CopiedRecord {
    /// Opens the copy in a run directory; `None` if another process copies the record.
    pub(super) fn open(directory: &RunDir) -> io::Result<Option<Self>> {
        let Ok(lock) = try_lock(&directory.path().join(LOCK))? else {
            return Ok(None);
        };
        let state = read_state(directory)?.unwrap_or_default();
        let directory = Directory::open_plain(directory.path())?;
        Ok(Some(Self {
            lengths: record_lengths(&directory)?,
            directory,
            state,
            files: BTreeMap::new(),
            _lock: lock,
        }))
    }

    /// Returns the number of the delivery whose bytes are taken; 0 before the first.
    pub(super) fn delivery(&self) -> u64 {
        self.state.delivery
    }

    /// Takes the bytes of a newer delivery from now on, behind the present ones.
    pub(super) fn begin(&mut self, delivery: u64) -> io::Result<()> {
        self.lengths = record_lengths(&self.directory)?;
        self.state = State {
            format: 1,
            delivery,
            begins: self.lengths.clone(),
            away: self.state.away,
            doubt: None,
        };
        self.write_state()
    }

    /// Notes that the servers are away, or that they are there.
    pub(super) fn note_away(&mut self, away: Option<Away>) -> io::Result<()> {
        if self.state.away == away {
            return Ok(());
        }
        self.state.away = away;
        self.state.format = 1;
        self.write_state()
    }

    /// Notes that nobody seems to do the run, and returns since when that is known. Another revision of
    /// the entry begins the time anew.
    pub(super) fn note_doubt(&mut self, revision: u64, now: Timestamp) -> io::Result<Timestamp> {
        if let Some(doubt) = self.state.doubt
            && doubt.revision == revision
            && doubt.since <= now
        {
            return Ok(doubt.since);
        }
        self.state.doubt = Some(Doubt {
            revision,
            since: now,
        });
        self.state.format = 1;
        self.write_state()?;
        Ok(now)
    }

    fn write_state(&self) -> io::Result<()> {
        let content = serde_json::to_vec(&self.state)?;
        self.directory.write_whole(Path::new(COPY_NOTE), &content)
    }

    /// Takes the new bytes of a chunk.
    pub(super) fn take(&mut self, chunk: &RecordChunk) -> io::Result<ChunkFit> {
        let is_known = self.lengths.contains_key(&chunk.file);
        if chunk.delivery != self.state.delivery || (!is_known && self.lengths.len() >= MOST_FILES)
        {
            return Ok(ChunkFit::Known);
        }
        let taken = chunk_fit(self.have(&chunk.file), chunk.at, chunk.bytes.len());
        if let ChunkFit::New(known) = taken {
            self.append(&chunk.file, &chunk.bytes[known..])?;
        }
        Ok(taken)
    }

    /// Returns the files that are shorter here than at the worker.
    pub(super) fn missing(&self, files: &BTreeMap<String, u64>) -> Vec<Missing> {
        let ours = files.iter().filter(|(name, _)| travels(name));
        let missing = ours.map(|(name, all)| Missing {
            file: name.clone(),
            have: self.have(name),
            all: *all,
        });
        missing.filter(|one| one.have < one.all).collect()
    }

    /// Returns how many bytes of a file of this delivery are here.
    fn have(&self, name: &str) -> u64 {
        let begin = self.state.begins.get(name).copied().unwrap_or(0);
        let length = self.lengths.get(name).copied().unwrap_or(0);
        length.saturating_sub(begin)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if !self.files.contains_key(name) {
            let file = self.directory.append(Path::new(name))?;
            self.files.insert(name.to_owned(), file);
        }
        self.skip_lines_of_others(name)?;
        if let Some(file) = self.files.get_mut(name) {
            let written = file.write_all(bytes);
            // A write may have been cut short; the length shows it.
            let length = file.metadata()?.len();
            self.lengths.insert(name.to_owned(), length);
            written?;
        }
        Ok(())
    }
}

impl CopiedRecord {
    /// Counts lines out that somebody has added to a file since our last write: they are no bytes of
    /// the worker, and would otherwise stand for as many of its next ones.
    fn skip_lines_of_others(&mut self, name: &str) -> io::Result<()> {
        let Some(file) = self.files.get(name) else {
            return Ok(());
        };
        let known = self.lengths.get(name).copied().unwrap_or(0);
        let added = file.metadata()?.len().saturating_sub(known);
        if added == 0 {
            return Ok(());
        }
        *self.state.begins.entry(name.to_owned()).or_default() += added;
        *self.lengths.entry(name.to_owned()).or_default() += added;
        self.write_state()
    }
}

/// Reads the facts about a copy; `None` if nobody has noted any.
fn read_state(directory: &RunDir) -> io::Result<Option<State>> {
    let directory = Directory::open_plain(directory.path())?;
    match directory.read(Path::new(COPY_NOTE), LARGEST_NOTE) {
        Ok(content) => Ok(Some(serde_json::from_slice(&content)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::RunId;

    use super::*;

    fn chunk(at: u64, bytes: &str) -> RecordChunk {
        RecordChunk {
            run: RunId::parse("r-1").unwrap(),
            delivery: 1,
            file: "events.jsonl".to_owned(),
            at,
            bytes: bytes.to_owned().into(),
        }
    }

    #[test]
    fn a_line_of_ours_among_the_bytes_of_a_worker_costs_none_of_them() {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path());
        let mut copy = CopiedRecord::open(&directory).unwrap().unwrap();
        copy.begin(1).unwrap();
        copy.take(&chunk(0, "first\n")).unwrap();
        directory.warn("its order is given again").unwrap();
        copy.take(&chunk(6, "second\n")).unwrap();
        drop(copy);
        // The next follower knows it too.
        let mut copy = CopiedRecord::open(&directory).unwrap().unwrap();
        copy.take(&chunk(13, "answer\n")).unwrap();
        let read = Directory::open_plain(home.path())
            .unwrap()
            .read(Path::new("events.jsonl"), 10_000);
        let events = String::from_utf8(read.unwrap()).unwrap();
        let lines: Vec<&str> = events
            .lines()
            .filter(|line| !line.starts_with('{'))
            .collect();
        assert_eq!(lines, ["first", "", "second", "answer"]);
        let whole = BTreeMap::from([("events.jsonl".to_owned(), 20)]);
        assert_eq!(copy.missing(&whole), []);
    }

    #[test]
    fn a_doubt_lasts_over_processes_until_the_entry_changes() {
        let home = tempfile::tempdir().unwrap();
        let directory = RunDir::new(home.path());
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut copy = CopiedRecord::open(&directory).unwrap().unwrap();
        assert_eq!(copy.note_doubt(7, at(100)).unwrap(), at(100));
        drop(copy);
        let mut copy = CopiedRecord::open(&directory).unwrap().unwrap();
        assert_eq!(copy.note_doubt(7, at(130)).unwrap(), at(100));
        assert_eq!(copy.note_doubt(8, at(131)).unwrap(), at(131));
    }
}
