//! The index: the directory and the ending of each run, and the runs that were removed. Lines are
//! appended; it is rebuildable, and there is one per user.

mod candidates;
mod compaction;
mod file;
mod line;
mod survey;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagents_vocabulary::{Ending, RunId, SessionId, Status, Task, Timestamp};
use serde::Serialize;

pub(crate) use self::candidates::candidates;
pub(crate) use self::file::Alone;
use self::line::{BeginLine, EndLine, IndexLine, Kind, RemovedLine};
pub(crate) use self::survey::survey;
pub use self::survey::{FinishedRun, Survey, SurveyDepth};
use crate::OwnerName;
use crate::format::Meta;
use crate::run_dir::RunDir;
use crate::run_figures::{Used, UsedByRun};

/// A run as the index knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedRun {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// The name its task was given.
    pub name: String,
    /// The definition it was given to, if any.
    pub preset: Option<String>,
    /// The model that answered, or that was asked for; none if that is not known.
    pub model: Option<String>,
    /// The directory of its record.
    pub directory: RunDir,
    /// The project its owner was started in.
    pub project: PathBuf,
    /// The time at which it was accepted, by the clock of that time.
    pub accepted_at: Timestamp,
    /// Its place among all runs: each has a higher number than those that began before it.
    pub sequence: u64,
    /// The process that owns the run, which those of one call share.
    pub owner: Arc<OwnerName>,
    /// The run's end, as far as the index knows it.
    pub state: RunState,
}

/// The end of a run, as far as the index knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunState {
    /// Nothing: it runs, or its owner is gone.
    Open,
    /// It is over.
    Over {
        /// The status of the run.
        status: Status,
        /// The exit code.
        exit_code: i32,
        /// The time of the end.
        at: Timestamp,
        /// The figures of the run, if they are known.
        used: Option<Used>,
    },
}

/// A run that was removed together with its record. The index remembers some of them for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedRun {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// The name its task was given.
    pub name: String,
    /// The directory in which its record was.
    pub directory: RunDir,
    /// The time of the removal.
    pub removed_at: Timestamp,
}

/// Notes that a run began. It fails if the directory of the run is gone: somebody may have removed
/// the run while its record was read.
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
            preset: meta.preset.as_deref(),
            model: meta.model.as_deref(),
            directory: directory.path(),
            project,
            accepted_at: meta.accepted_at().to_string(),
            sequence: meta.sequence,
            owner: &meta.owner,
        },
        || fs::symlink_metadata(directory.path()).map(|_| ()),
    )
}

/// Notes that a run ended.
pub(crate) fn append_end(
    index: &Path,
    run: &RunId,
    ending: &Ending,
    at: Timestamp,
    used: Option<&UsedByRun>,
) -> io::Result<()> {
    append(
        index,
        &EndLine {
            run: run.as_str(),
            status: ending.status().as_str(),
            exit_code: ending.exit_code(),
            ended_at: at.to_string(),
            model: used.and_then(|used| used.model.as_deref()),
            used: used.map(|used| used.figures),
        },
        || Ok(()),
    )
}

impl Alone {
    /// Notes that a run was removed.
    pub(crate) fn note_removal(&self, run: &IndexedRun, at: Timestamp) -> io::Result<()> {
        self.append(as_line(&RemovedLine {
            run: run.run.as_str(),
            removed_at: at.to_string(),
            session: run.session.as_str(),
            name: &run.name,
            directory: run.directory.path(),
        })?)
    }

    /// Enters a run again that could not be removed after all.
    pub(crate) fn enter_again(&self, run: &IndexedRun) -> io::Result<()> {
        let mut lines = as_line(&BeginLine {
            run: run.run.as_str(),
            session: run.session.as_str(),
            name: &run.name,
            preset: run.preset.as_deref(),
            model: run.model.as_deref(),
            directory: run.directory.path(),
            project: &run.project,
            accepted_at: run.accepted_at.to_string(),
            sequence: run.sequence,
            owner: &run.owner,
        })?;
        if let RunState::Over {
            status,
            exit_code,
            at,
            used,
        } = run.state
        {
            lines.extend(as_line(&EndLine {
                run: run.run.as_str(),
                status: status.as_str(),
                exit_code,
                ended_at: at.to_string(),
                model: None,
                used,
            })?);
        }
        self.append(lines)
    }

    /// Rewrites the index without superfluous lines.
    pub(crate) fn compact(self, now: Timestamp) -> io::Result<()> {
        let content = self.content()?;
        let compacted = compaction::compacted(&content, now);
        if compacted.len() == content.len() {
            return Ok(());
        }
        self.replace(&compacted)
    }
}

fn append(
    index: &Path,
    line: &impl Serialize,
    condition: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    file::append(index, as_line(line)?, condition)
}

fn as_line(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

/// Reads all runs, in the order they began; lines that cannot be read are skipped.
pub(crate) fn read(index: &Path) -> io::Result<Vec<IndexedRun>> {
    let mut known = KnownRuns::default();
    file::each_line(index, |line, _| known.add(line))?;
    Ok(known.into_runs())
}

/// Reads the runs of the newest part of the index, in the order they began.
pub(crate) fn read_newest(index: &Path) -> io::Result<Vec<IndexedRun>> {
    let content = file::newest_content(index)?;
    let mut known = KnownRuns::default();
    content.lines().for_each(|line| known.add(line));
    Ok(known.into_runs())
}

/// Reads the runs that were removed, in that order, as far as the index remembers them.
pub(crate) fn read_removed(index: &Path) -> io::Result<Vec<RemovedRun>> {
    let mut removed: Vec<Option<RemovedRun>> = Vec::new();
    let mut places: HashMap<RunId, usize> = HashMap::new();
    file::each_line(index, |line, _| {
        let Some(line) = IndexLine::parse(line) else {
            return;
        };
        match line.kind() {
            Kind::Removed => {
                if let Some(run) = line.into_removed() {
                    places.insert(run.run.clone(), removed.len());
                    removed.push(Some(run));
                }
            }
            // Somebody brought it back, and it was entered again.
            Kind::Begin => {
                if let Some(place) = places.remove(&*line.run) {
                    removed[place] = None;
                }
            }
            Kind::End => {}
        }
    })?;
    Ok(removed.into_iter().flatten().collect())
}

/// The runs of the lines that were read so far.
#[derive(Default)]
struct KnownRuns {
    /// The runs in the order of their first lines, and whether each was removed since.
    runs: Vec<(IndexedRun, bool)>,
    places: HashMap<RunId, usize>,
}

impl KnownRuns {
    /// Takes one more line; one that cannot be read is skipped.
    fn add(&mut self, line: &str) {
        let Some(line) = IndexLine::parse(line) else {
            return;
        };
        let place = self.places.get(&*line.run).copied();
        match (line.kind(), place) {
            (Kind::Begin, place) => {
                let Some(mut run) = line.into_run() else {
                    return;
                };
                self.share_owner(&mut run);
                if let Some(place) = place {
                    // It was moved, and entered again.
                    self.runs[place] = (run, false);
                } else {
                    self.places.insert(run.run.clone(), self.runs.len());
                    self.runs.push((run, false));
                }
            }
            (Kind::End, Some(place)) => {
                let (run, _) = &mut self.runs[place];
                run.state = line.state();
                run.model = line.model.map(Cow::into_owned).or(run.model.take());
            }
            (Kind::Removed, Some(place)) => self.runs[place].1 = true,
            (Kind::End | Kind::Removed, None) => {}
        }
    }

    /// Lets a run have the owner of the run before it, if that is the same: after some years there are very
    /// many runs, and the runs of a call stand together.
    fn share_owner(&self, run: &mut IndexedRun) {
        let before = self.runs.last().map(|(before, _)| &before.owner);
        if let Some(owner) = before.filter(|owner| **owner == run.owner) {
            run.owner = Arc::clone(owner);
        }
    }

    /// Returns the runs in the order they began.
    fn into_runs(self) -> Vec<IndexedRun> {
        let mut runs = self.runs;
        runs.retain(|(_, is_removed)| !is_removed);
        let mut runs: Vec<IndexedRun> = runs.into_iter().map(|(run, _)| run).collect();
        // They are in order except for runs that were found in their directories and entered late.
        runs.sort_by_key(|run| run.sequence);
        runs
    }
}

impl IndexLine<'_> {
    fn into_run(self) -> Option<IndexedRun> {
        Some(IndexedRun {
            run: RunId::parse(&self.run).ok()?,
            session: SessionId::parse(&self.session).ok()?,
            name: self.name.into_owned(),
            preset: self.preset.map(Cow::into_owned),
            model: self.model.map(Cow::into_owned),
            directory: RunDir::new(self.directory.into_owned()),
            project: self.project.into_owned().into(),
            accepted_at: self.accepted_at.parse().ok()?,
            sequence: self.sequence,
            owner: Arc::new(self.owner?),
            state: RunState::Open,
        })
    }

    fn into_removed(self) -> Option<RemovedRun> {
        Some(RemovedRun {
            run: RunId::parse(&self.run).ok()?,
            session: SessionId::parse(&self.session).ok()?,
            name: self.name.into_owned(),
            directory: RunDir::new(self.directory.into_owned()),
            removed_at: self.removed_at.parse().ok()?,
        })
    }

    fn state(&self) -> RunState {
        RunState::Over {
            status: match &*self.status {
                "completed" => Status::Completed,
                "stopped" | "aborted" => Status::Stopped,
                "parked" => Status::Parked,
                _ => Status::Failed,
            },
            exit_code: self.exit_code,
            at: self.ended_at.parse().unwrap_or_default(),
            used: self.used,
        }
    }
}
