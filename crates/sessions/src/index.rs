//! The index: which run is where, and how it ended. Append-only, rebuildable, one file per user.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use pi_subagents_delegation::{Ending, RunId, SessionId, Status, Task, Timestamp};
use serde::{Deserialize, Serialize};

use crate::OwnerName;
use crate::private;
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
    /// When it was taken on.
    pub accepted_at: Timestamp,
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

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BeginLine {
    run: String,
    session: String,
    name: String,
    directory: PathBuf,
    project: PathBuf,
    accepted_at: String,
    owner: OwnerName,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EndLine {
    run: String,
    status: String,
    exit_code: i32,
    ended_at: String,
}

/// A line is one of the two; which one shows by the field it has.
#[derive(Deserialize)]
#[serde(untagged)]
enum IndexLine {
    Begin(BeginLine),
    End(EndLine),
}

/// Notes that a run began.
pub(crate) fn append_begin(
    index: &Path,
    task: &Task,
    directory: &RunDir,
    project: &Path,
    owner: &OwnerName,
    at: Timestamp,
) -> io::Result<()> {
    append(
        index,
        &BeginLine {
            run: task.run.to_string(),
            session: task.session.to_string(),
            name: task.name.clone(),
            directory: directory.path().to_owned(),
            project: project.to_owned(),
            accepted_at: at.to_string(),
            owner: owner.clone(),
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
            run: run.to_string(),
            status: ending.status().as_str().to_owned(),
            exit_code: ending.exit_code(),
            ended_at: at.to_string(),
        },
    )
}

/// One write per line, so that the lines of several processes do not mix.
fn append(index: &Path, line: &impl Serialize) -> io::Result<()> {
    let mut file = private::append(index)?;
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    if is_torn(index) {
        text.insert(0, b'\n');
    }
    file.write_all(&text)
}

/// A full disk may have cut the last line, which must not swallow the next one.
fn is_torn(index: &Path) -> bool {
    let last_byte = || -> io::Result<u8> {
        let mut file = fs::File::open(index)?;
        let mut byte = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut byte)?;
        }
        Ok(byte[0])
    };
    last_byte().is_ok_and(|byte| byte != b'\n')
}

/// All runs, in the order they began; lines that cannot be read are passed over.
pub(crate) fn read(index: &Path) -> io::Result<Vec<IndexedRun>> {
    let content = match fs::read(index) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut runs: Vec<IndexedRun> = Vec::new();
    let mut places: HashMap<RunId, usize> = HashMap::new();
    for line in content.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(IndexLine::Begin(begin)) => {
                if let Some(run) = begin.into_run() {
                    places.insert(run.run.clone(), runs.len());
                    runs.push(run);
                }
            }
            Ok(IndexLine::End(end)) => {
                let place = RunId::parse(&end.run).ok().and_then(|id| places.get(&id));
                if let Some(run) = place.and_then(|place| runs.get_mut(*place)) {
                    run.state = end.state();
                }
            }
            Err(_) => {}
        }
    }
    Ok(runs)
}

impl BeginLine {
    fn into_run(self) -> Option<IndexedRun> {
        Some(IndexedRun {
            run: RunId::parse(&self.run).ok()?,
            session: SessionId::parse(&self.session).ok()?,
            name: self.name,
            directory: RunDir::new(self.directory),
            project: self.project,
            accepted_at: self.accepted_at.parse().ok()?,
            owner: self.owner,
            state: RunState::Open,
        })
    }
}

impl EndLine {
    fn state(&self) -> RunState {
        RunState::Over {
            status: match self.status.as_str() {
                "completed" => Status::Completed,
                "aborted" => Status::Aborted,
                _ => Status::Failed,
            },
            exit_code: self.exit_code,
            at: self.ended_at.parse().unwrap_or_default(),
        }
    }
}
