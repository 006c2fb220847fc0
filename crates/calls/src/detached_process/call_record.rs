//! The record of a call that outlives its caller: which runs it has, how far it is, and its answer.
//! Any later process of the same user finds it by its id.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pi_subagents_engine::ProcessName;
use pi_subagents_files::{create_directories, create_new, read_own, write_whole};
use pi_subagents_runs::owner_process::this_host;
use pi_subagents_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::order::{AnsweredCall, BegunRun};
use crate::questions::RunQuestion;

/// The folder of these records in the agent directory.
const FOLDER: &str = "subagents-calls";

/// The time for which a record is kept after its last change.
pub const KEPT: Duration = Duration::from_hours(7 * 24);

/// The length of the longest record that is read.
const LONGEST: u64 = 64 << 20;

/// A call, as its record has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    id: String,
    /// The process that does the call, or is about to start the process that will.
    owner: CallOwner,
    pub began_at: Timestamp,
    pub changed_at: Timestamp,
    /// Its runs, once they are open.
    #[serde(default)]
    pub runs: Vec<BegunRun>,
    /// How far it is.
    #[serde(flatten)]
    pub news: CallNews,
    #[serde(default)]
    pub answer: Option<AnsweredCall>,
    /// The file it is kept in.
    #[serde(skip)]
    file: PathBuf,
    /// True if its process was gone before it was read, and had left no answer.
    #[serde(skip)]
    is_lost: bool,
}

/// How far a call is, while it is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallNews {
    /// The line that says it.
    #[serde(default)]
    pub message: Option<String>,
    /// The questions that a person at the door is to answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<RunQuestion>,
}

/// The process that does a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallOwner {
    pid: u32,
    start_time: u64,
    host: String,
}

impl CallOwner {
    fn this_process() -> Self {
        let process = ProcessName::of_this_process();
        Self {
            pid: process.pid,
            start_time: process.start_time,
            host: this_host(),
        }
    }
}

impl CallRecord {
    /// Makes the record of a call that is about to begin. Records that nobody may ask for any more
    /// are removed.
    pub fn begin(agent_dir: &Path) -> io::Result<Self> {
        let folder = agent_dir.join(FOLDER);
        create_directories(&folder)?;
        remove_old(&folder);
        let id = Uuid::now_v7().to_string();
        let now = Timestamp::now();
        let record = Self {
            file: folder.join(format!("{id}.json")),
            id,
            owner: CallOwner::this_process(),
            began_at: now,
            changed_at: now,
            runs: Vec::new(),
            news: CallNews::default(),
            answer: None,
            is_lost: false,
        };
        record.write()?;
        Ok(record)
    }

    /// Reads a record; `None` if there is none of this id.
    pub fn read(agent_dir: &Path, id: &str) -> Option<Self> {
        // An id is the name of a file, so nothing else may be in it.
        let id = Uuid::try_parse(id).ok()?.to_string();
        let file = agent_dir.join(FOLDER).join(format!("{id}.json"));
        let mut record = Self::in_file(&file)?;
        // A process writes the answer and is gone, so only what is read after its end is the last.
        while record.is_abandoned() && !record.is_lost {
            let later = Self::in_file(&file)?;
            let is_lost = later.changed_at == record.changed_at;
            record = Self { is_lost, ..later };
        }
        Some(record)
    }

    fn in_file(file: &Path) -> Option<Self> {
        let record: Self = serde_json::from_slice(&read_own(file, LONGEST).ok()?).ok()?;
        let file = file.to_owned();
        Some(Self { file, ..record })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Makes this process the one that does the call, with these runs.
    pub(super) fn take_over(&mut self, runs: Vec<BegunRun>) -> io::Result<()> {
        self.owner = CallOwner::this_process();
        self.runs = runs;
        self.changed()
    }

    /// Notes how far the call is.
    pub(super) fn is_at(&mut self, news: CallNews) -> io::Result<()> {
        self.news = news;
        self.changed()
    }

    /// Ends the call with its answer.
    pub fn end(&mut self, answer: AnsweredCall) -> io::Result<()> {
        self.answer = Some(answer);
        self.news = CallNews::default();
        self.changed()
    }

    /// Returns whether the process that did the call was gone when the record was read, although
    /// there is no answer.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns whether there is no answer here, and the process that does the call is gone now. A
    /// process of another machine counts as there for as long as the record is kept.
    fn is_abandoned(&self) -> bool {
        let CallOwner {
            pid,
            start_time,
            ref host,
        } = self.owner;
        let is_here = *host == this_host();
        self.answer.is_none() && is_here && !ProcessName { pid, start_time }.is_alive()
    }

    /// Notes that somebody wants the call to end early.
    pub fn cancel(&self) -> io::Result<()> {
        match create_new(&self.cancelled()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns whether somebody has wanted the call to end early.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled().exists()
    }

    fn cancelled(&self) -> PathBuf {
        self.file.with_extension("cancelled")
    }

    fn changed(&mut self) -> io::Result<()> {
        self.changed_at = Timestamp::now();
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let content = serde_json::to_vec(self).map_err(io::Error::other)?;
        write_whole(&self.file, &content)
    }
}

/// Removes what is older than its time. What cannot be removed is removed another time.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let changed = entry.metadata().and_then(|file| file.modified());
        let age = changed.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age > KEPT) {
            _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_later_process_finds_the_call_and_its_answer() {
        let home = tempfile::tempdir().expect("a directory");
        let places = home.path();
        let mut record = CallRecord::begin(places).expect("a record");
        let id = record.id().to_owned();
        let news = CallNews {
            message: Some("1 running".to_owned()),
            questions: Vec::new(),
        };
        record.is_at(news).expect("a file");
        let found = CallRecord::read(places, &id).expect("a record");
        assert_eq!(found.news.message.as_deref(), Some("1 running"));
        assert!(!found.is_lost());
        let answer = AnsweredCall::refused("no".to_owned());
        record.end(answer.clone()).expect("a file");
        let found = CallRecord::read(places, &id).expect("a record");
        assert_eq!(found.answer, Some(answer));
        for wrong in ["", "..", "../index", "nope", &id[1..]] {
            assert!(CallRecord::read(places, wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_call_whose_process_is_gone_is_lost() {
        let home = tempfile::tempdir().expect("a directory");
        let places = home.path();
        let mut record = CallRecord::begin(places).expect("a record");
        record.owner.start_time += 1;
        let is_lost = |record: &CallRecord| {
            record.write().expect("a file");
            let found = CallRecord::read(places, record.id()).expect("a record");
            found.is_lost()
        };
        assert!(is_lost(&record));
        record.answer = Some(AnsweredCall::refused("no".to_owned()));
        assert!(!is_lost(&record));
        record.answer = None;
        record.owner.host = "elsewhere".to_owned();
        assert!(!is_lost(&record));
    }

    #[test]
    fn old_records_make_room_and_a_wish_is_kept() {
        let home = tempfile::tempdir().expect("a directory");
        let places = home.path();
        let old = CallRecord::begin(places).expect("a record");
        let long_ago = SystemTime::now() - KEPT - Duration::from_mins(1);
        let file = File::open(&old.file).expect("a file");
        file.set_modified(long_ago).expect("a time");
        let record = CallRecord::begin(places).expect("a record");
        assert!(CallRecord::read(places, old.id()).is_none());
        assert!(!record.is_cancelled());
        record.cancel().expect("a file");
        record.cancel().expect("a file");
        assert!(record.is_cancelled());
    }
}
