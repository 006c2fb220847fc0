//! The names of the files of one run directory.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::Directory;
use pi_subagents_vocabulary::{QuestionId, RunId};

pub(crate) const META: &str = "meta.json";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const RESULT: &str = "result.json";
pub(crate) const STDOUT: &str = "stdout.log";
pub(crate) const STDERR: &str = "stderr.log";
pub(crate) const TRANSCRIPT: &str = "transcript.log";
const ON_END_LOG: &str = "on-end.log";

/// More than this is not read of `meta.json` and `result.json`; a prompt may be long.
pub(crate) const LARGEST_WHOLE_FILE: u64 = 64 << 20;

/// The number of characters of a foreign id that go into the name of a file.
const LONGEST_ID: usize = 200;

/// The directory of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir(PathBuf);

impl RunDir {
    /// Takes a directory for a run directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the run whose directory it is; `None` if its name is no id.
    pub fn run(&self) -> Option<RunId> {
        RunId::parse(self.0.file_name()?.to_str()?).ok()
    }

    /// Opens it; a link in its place is refused.
    pub(crate) fn open(&self) -> io::Result<Directory> {
        Directory::open_plain(&self.0)
    }

    /// Opens one of its files to append to it.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        self.open()?.append(Path::new(name))
    }

    /// Writes one of its files whole; false if it is there already.
    pub(crate) fn write_once(&self, name: &str, content: &[u8]) -> io::Result<bool> {
        self.open()?.write_whole_once(Path::new(name), content)
    }

    /// Opens one of its files to read it.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        self.open()?.open_file(Path::new(name))
    }

    /// Opens the conversation as a person reads it.
    pub fn open_transcript(&self) -> io::Result<File> {
        self.open_file(TRANSCRIPT)
    }

    /// Reads one of its files as a whole.
    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.open()?.read(Path::new(name), LARGEST_WHOLE_FILE)
    }

    /// Returns the path of `meta.json`, which names the task and the owner of the run.
    pub fn meta(&self) -> PathBuf {
        self.0.join(META)
    }

    /// Returns the path of the events: the child's records, and ours about its life.
    pub fn events(&self) -> PathBuf {
        self.0.join(EVENTS)
    }

    /// Returns the path of `result.json`: how the run ended.
    pub fn result(&self) -> PathBuf {
        self.0.join(RESULT)
    }

    /// Returns the path of the log with the child's output that is no record.
    pub fn stdout(&self) -> PathBuf {
        self.0.join(STDOUT)
    }

    /// Returns the path of the log of the child's stderr.
    pub fn stderr(&self) -> PathBuf {
        self.0.join(STDERR)
    }

    /// Returns the path of the conversation as a person reads it.
    pub fn transcript(&self) -> PathBuf {
        self.0.join(TRANSCRIPT)
    }

    /// Returns the path of the child's own session file.
    pub fn child_session(&self) -> PathBuf {
        self.0.join("child-session.jsonl")
    }

    /// Returns the path of the system prompt that the child was given.
    pub fn system_prompt(&self) -> PathBuf {
        self.0.join("system-prompt.md")
    }

    /// Returns the path of the output of the user's command for ended runs.
    pub fn on_end_log(&self) -> PathBuf {
        self.0.join(ON_END_LOG)
    }

    /// Claims the user's command for ended runs: the log of its output is made. Returns true for one
    /// caller only.
    pub fn claim_on_end(&self) -> io::Result<bool> {
        self.claim(ON_END_LOG)
    }

    /// Claims a notice to a session of pi about this run. Returns true for one caller per session
    /// only.
    pub fn claim_notice(&self, pi_session: &str, notice: NoticeOf<'_>) -> io::Result<bool> {
        self.claim(&notified(pi_session, notice))
    }

    /// Makes a file that only one process can make.
    fn claim(&self, name: &str) -> io::Result<bool> {
        match self.open()?.create_new(Path::new(name)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether somebody has given a session of pi this notice, or is about to.
    pub fn has_notified(&self, pi_session: &str, notice: NoticeOf<'_>) -> bool {
        self.0.join(notified(pi_session, notice)).exists()
    }

    /// Takes a claim back, because the notice could not be delivered.
    pub fn release_notice(&self, pi_session: &str, notice: NoticeOf<'_>) -> io::Result<()> {
        self.open()?
            .remove(Path::new(&notified(pi_session, notice)))
    }
}

/// The subject of a notice to a session of pi about a background run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOf<'a> {
    /// The run is over.
    End,
    /// The run asks this question.
    Question(&'a QuestionId),
}

/// Returns the name of the file that claims a notice to a session of pi about a background run.
fn notified(pi_session: &str, notice: NoticeOf<'_>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let letters = pi_session.chars().take(LONGEST_ID);
    let name: String = letters
        .map(|letter| if is_plain(letter) { letter } else { '_' })
        .collect();
    match notice {
        NoticeOf::End => format!("notified-{name}"),
        NoticeOf::Question(id) => format!("notified-{name}-{id}"),
    }
}
