//! The growing files of one run, and its end.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::time::SystemTime;

use pi_subagents_files as files;
use pi_subagents_vocabulary::{RunReport, Timestamp};
use serde::Serialize;

use crate::disk::DiskUse;
use crate::format::{LifeRecord, RunResult};
use crate::log::{Log, Origin};
use crate::problems::could_not_write;
use crate::reserve;
use crate::run_dir::{self, RunDir};

/// The reason why the record of a run misses something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A file for people could not be written.
    Minor(String),
    /// The events or the result could not be written.
    Gap(String),
    /// The record may not grow any more.
    Full(String),
}

/// A run that is being recorded.
#[derive(Debug)]
pub(crate) struct OpenRun {
    directory: RunDir,
    /// `None` for a file that could not be written: lines behind a gap would only mislead.
    files: HashMap<Log, Option<BufWriter<File>>>,
    disk: DiskUse,
    /// The parts that are missing in its record, as sentences.
    lacks: Vec<String>,
    /// Set if somebody else has ended the run while its owner was stopped. They wrote the rest too.
    is_closed: bool,
}

impl OpenRun {
    pub(crate) fn new(directory: RunDir, limit: u64) -> Self {
        reserve::take(&directory);
        Self {
            files: HashMap::new(),
            disk: DiskUse::new(limit),
            lacks: Vec::new(),
            is_closed: false,
            directory,
        }
    }

    /// Writes lines, given without their last newline. The child's lines are left out once the
    /// record is full.
    pub(crate) fn append(&mut self, log: Log, origin: Origin, lines: &[u8]) -> Result<(), Problem> {
        if self.was_closed() {
            return Ok(());
        }
        let was_full = self.disk.is_full();
        if origin == Origin::Child && !self.disk.has_room_for(lines.len(), &self.directory) {
            return if was_full { Ok(()) } else { Err(self.full()) };
        }
        self.disk.add(lines.len() + 1);
        self.write(log, lines)
            .map_err(|error| self.failed(log, &error))
    }

    /// Hands the written lines to the system.
    pub(crate) fn flush(&mut self) -> Vec<Problem> {
        if self.holds_anything() && self.was_closed() {
            return Vec::new();
        }
        let mut errors = Vec::new();
        for (log, file) in &mut self.files {
            if let Some(open) = file
                && let Err(error) = open.flush()
            {
                give_up(file);
                errors.push((*log, error));
            }
        }
        let errors = errors.into_iter();
        errors
            .map(|(log, error)| self.failed(log, &error))
            .collect()
    }

    /// Leaves a sign of life, by which the end of the run is dated if its owner is killed.
    pub(crate) fn touch(&self) {
        if let Some(Some(events)) = self.files.get(&Log::Events) {
            // Without it, the time of the last write counts as the last sign of the run.
            _ = events.get_ref().set_modified(SystemTime::now());
        }
    }

    /// Writes the end of the run, unless somebody else has. On a full disk it takes the room that
    /// was kept free for it.
    pub(crate) fn end(mut self, mut result: RunResult, at: Timestamp) -> Result<bool, Unwritten> {
        if self.was_closed() {
            return Ok(false);
        }
        result.report.incomplete.append(&mut self.lacks);
        if matches!(self.files.get(&Log::Events), Some(None)) {
            // The result has the ending; perhaps the events cannot be written.
            _ = self.note_gap(&result.report, at);
        }
        // A result is of no use without `meta.json`. If that file cannot be synced, neither can
        // this one.
        _ = files::sync(&self.directory.meta());
        let written = write_result(&self.directory, &result);
        reserve::release(&self.directory);
        if let Ok(is_ours) = written {
            return Ok(is_ours);
        }
        let result = result.shortened();
        write_result(&self.directory, &result).map_err(|error| Unwritten {
            problem: Problem::Gap(could_not_write(&self.directory.result(), &error)),
            directory: self.directory,
            result: Box::new(result),
        })
    }

    fn holds_anything(&self) -> bool {
        let mut open = self.files.values().flatten();
        open.any(|file| !file.buffer().is_empty())
    }

    /// Returns whether somebody else has written the end. If so, the lines that are still held for
    /// the files are dropped: the files are complete, and these lines are older than that end.
    fn was_closed(&mut self) -> bool {
        let has_result = |directory: &RunDir| {
            let result = fs::symlink_metadata(directory.result());
            result.is_ok_and(|result| result.is_file())
        };
        if !self.is_closed && has_result(&self.directory) {
            self.is_closed = true;
            self.files.values_mut().for_each(give_up);
        }
        self.is_closed
    }

    /// Notes in the events that some are missing, as soon as they can be written again.
    fn note_gap(&self, report: &RunReport, at: Timestamp) -> io::Result<()> {
        let at = format!("{at:.3}");
        let warning = format!(
            "this record is incomplete: {}",
            report.incomplete.join("; ")
        );
        let mut lines = vec![LifeRecord::Warned {
            at: at.clone(),
            warning,
        }];
        if let Some(ending) = report.ending.as_deref() {
            lines.push(LifeRecord::Ended {
                at,
                ending: ending.clone(),
            });
        }
        let lines = whole_lines(&lines)?;
        self.directory.append(run_dir::EVENTS)?.write_all(&lines)
    }

    /// Notes in the events that the record is full.
    fn full(&mut self) -> Problem {
        let sentence = self.disk.sentence();
        let warning = LifeRecord::Warned {
            at: format!("{:.3}", Timestamp::now()),
            warning: sentence.clone(),
        };
        let line = serde_json::to_vec(&warning).unwrap_or_default();
        if let Err(error) = self.write(Log::Events, &line) {
            return self.failed(Log::Events, &error);
        }
        self.lacks.push(sentence.clone());
        Problem::Full(sentence)
    }

    fn failed(&mut self, log: Log, error: &io::Error) -> Problem {
        let sentence = could_not_write(&self.directory.path().join(name(log)), error);
        if log == Log::Events {
            self.lacks.push(sentence.clone());
            Problem::Gap(sentence)
        } else {
            Problem::Minor(sentence)
        }
    }

    fn write(&mut self, log: Log, lines: &[u8]) -> io::Result<()> {
        let file = match self.files.entry(log) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let file = unknown.insert(None);
                let opened = self.directory.append(name(log))?;
                *file = Some(BufWriter::new(opened));
                file
            }
        };
        let Some(open) = file else {
            return Ok(());
        };
        let written = open.write_all(lines).and_then(|()| open.write_all(b"\n"));
        if written.is_err() {
            give_up(file);
        }
        written
    }
}

/// A result that could not be written yet.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(crate) problem: Problem,
    directory: RunDir,
    result: Box<RunResult>,
}

impl Unwritten {
    /// Tries once more, and returns whether the result is written now.
    pub(crate) fn is_written_now(&self) -> bool {
        write_result(&self.directory, &self.result).is_ok()
    }
}

fn write_result(directory: &RunDir, result: &RunResult) -> io::Result<bool> {
    directory.write_once(run_dir::RESULT, &serde_json::to_vec_pretty(result)?)
}

/// Puts a newline before lines that follow a torn line.
fn whole_lines(lines: &[impl Serialize]) -> io::Result<Vec<u8>> {
    let mut text = vec![b'\n'];
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// Drops a file without trying once more to write its buffer.
fn give_up(file: &mut Option<BufWriter<File>>) {
    if let Some(open) = file.take() {
        _ = open.into_parts();
    }
}

fn name(log: Log) -> &'static str {
    match log {
        Log::Events => run_dir::EVENTS,
        Log::Stdout => run_dir::STDOUT,
        Log::Stderr => run_dir::STDERR,
        Log::Transcript => run_dir::TRANSCRIPT,
    }
}
