//! The index: which run is where, and how it ended. Append-only, rebuildable, one file per user.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use pi_subagents_delegation::{Ending, RunId, SessionId, Status, Task, Timestamp};
use pi_subagents_files as files;
use serde::{Deserialize, Serialize};

use crate::OwnerName;
use crate::format::Meta;
use crate::run_dir::RunDir;

/// A run as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedRun {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// The name its task was given.
    pub name: String,
    /// Where its record is.
    pub directory: RunDir,
    /// The project its owner was started in.
    pub project: PathBuf,
    /// When it was taken on, by the clock of that time.
    pub accepted_at: Timestamp,
    /// Its place among all runs: each has a higher number than those that began before it.
    pub sequence: u64,
    /// Who owns it.
    pub owner: OwnerName,
    /// What the index knows of its end.
    pub state: RunState,
}

/// What the index knows of a run's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Nothing: it runs, or its owner is gone.
    Open,
    /// It is over.
    Over {
        /// How.
        status: Status,
        /// With which exit code.
        exit_code: i32,
        /// When.
        at: Timestamp,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BeginLine<'a> {
    run: &'a str,
    session: &'a str,
    name: &'a str,
    directory: &'a Path,
    project: &'a Path,
    accepted_at: String,
    sequence: u64,
    owner: &'a OwnerName,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EndLine<'a> {
    run: &'a str,
    status: &'a str,
    exit_code: i32,
    ended_at: String,
}

/// A line that was read, of either kind; which one shows by the fields it has. After some years
/// there are very many, so nothing is copied that is not kept.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IndexLine<'a> {
    #[serde(borrow)]
    run: Cow<'a, str>,
    #[serde(borrow, default)]
    session: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    directory: Cow<'a, str>,
    #[serde(borrow, default)]
    project: Cow<'a, str>,
    #[serde(borrow, default)]
    accepted_at: Cow<'a, str>,
    #[serde(default)]
    sequence: u64,
    owner: Option<OwnerName>,
    #[serde(borrow, default)]
    status: Cow<'a, str>,
    #[serde(default)]
    exit_code: i32,
    #[serde(borrow, default)]
    ended_at: Cow<'a, str>,
}

/// Notes that a run began.
pub(crate) fn append_begin(
    index: &Path,
    task: &Task,
    directory: &RunDir,
    project: &Path,
    meta: &Meta,
) -> io::Result<()> {
    append(
        index,
        &BeginLine {
            run: task.run.as_str(),
            session: task.session.as_str(),
            name: &task.name,
            directory: directory.path(),
            project,
            accepted_at: meta.accepted_at().to_string(),
            sequence: meta.sequence,
            owner: &meta.owner,
        },
    )
}

/// Notes that a run ended.
pub(crate) fn append_end(
    index: &Path,
    run: &RunId,
    ending: &Ending,
    at: Timestamp,
) -> io::Result<()> {
    append(
        index,
        &EndLine {
            run: run.as_str(),
            status: ending.status().as_str(),
            exit_code: ending.exit_code(),
            ended_at: at.to_string(),
        },
    )
}

/// Appends a line in one write, so that the lines of several processes do not mix.
fn append(index: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut file = files::append_own(index)?;
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    if is_torn(index) {
        text.insert(0, b'\n');
    }
    file.write_all(&text)
}

/// Returns whether a full disk has cut the last line, which must not swallow the next one.
fn is_torn(index: &Path) -> bool {
    let last_byte = || -> io::Result<u8> {
        let mut file = files::open_own(index)?;
        let mut byte = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
        }
        Ok(byte[0])
    };
    last_byte().is_ok_and(|byte| byte != b'\n')
}

/// An index is not read beyond this; ten thousand runs take some five megabytes.
const LARGEST: u64 = 1 << 30;

/// Reads all runs, in the order they began; lines that cannot be read are passed over.
pub(crate) fn read(index: &Path) -> io::Result<Vec<IndexedRun>> {
    Ok(runs_of(content(index)?.lines()))
}

/// Reads the runs that have no end, in the order they began. Only the beginning of most lines is
/// looked at, because every command reads this before it does anything else.
pub(crate) fn read_open(index: &Path) -> io::Result<Vec<IndexedRun>> {
    let content = content(index)?;
    let ended: HashSet<&str> = content.lines().filter_map(ended_run).collect();
    let is_open = |line: &&str| beginning(line).is_none_or(|(run, _)| !ended.contains(run));
    Ok(runs_of(content.lines().filter(is_open)))
}

fn content(index: &Path) -> io::Result<String> {
    match files::read_own(index, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
        // Checked as a whole, not string by string.
        Ok(bytes) => Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())),
    }
}

/// Returns the run whose end a line notes, if it notes one.
fn ended_run(line: &str) -> Option<&str> {
    let (run, rest) = beginning(line)?;
    rest.starts_with(r#","status":""#).then_some(run)
}

/// Splits a line that this program wrote into the run at its beginning and the rest.
fn beginning(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix(r#"{"run":""#)?.split_once('"')
}

fn runs_of<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<IndexedRun> {
    let mut runs: Vec<IndexedRun> = Vec::new();
    let mut places: HashMap<RunId, usize> = HashMap::new();
    for line in lines {
        let Ok(line) = serde_json::from_str::<IndexLine<'_>>(line) else {
            continue;
        };
        if line.owner.is_none() {
            if let Some(run) = places.get(&*line.run).and_then(|at| runs.get_mut(*at)) {
                run.state = line.state();
            }
        } else if let Some(run) = line.into_run() {
            if let Some(known) = places.get(&run.run).and_then(|at| runs.get_mut(*at)) {
                // It was moved, and entered again.
                *known = run;
            } else {
                places.insert(run.run.clone(), runs.len());
                runs.push(run);
            }
        }
    }
    // They are in order but for those that were found in their directories and entered late.
    runs.sort_by_key(|run| run.sequence);
    runs
}

impl IndexLine<'_> {
    fn into_run(self) -> Option<IndexedRun> {
        Some(IndexedRun {
            run: RunId::parse(&self.run).ok()?,
            session: SessionId::parse(&self.session).ok()?,
            name: self.name.into_owned(),
            directory: RunDir::new(self.directory.into_owned()),
            project: self.project.into_owned().into(),
            accepted_at: self.accepted_at.parse().ok()?,
            sequence: self.sequence,
            owner: self.owner?,
            state: RunState::Open,
        })
    }

    fn state(&self) -> RunState {
        RunState::Over {
            status: match &*self.status {
                "completed" => Status::Completed,
                "aborted" => Status::Aborted,
                _ => Status::Failed,
            },
            exit_code: self.exit_code,
            at: self.ended_at.parse().unwrap_or_default(),
        }
    }
}
