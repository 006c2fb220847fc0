//! The thread that writes run directories.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pi_subagents_delegation::{Ending, RunId, Timestamp};
use pi_subagents_files as files;

use crate::format::RunResult;
use crate::index;
use crate::recorder::Problems;
use crate::run_dir::{self, RunDir};

/// What was written is handed to the system when nothing came for so long.
const PAUSE: Duration = Duration::from_millis(10);

/// Or after so long, when there is no such pause.
const LONGEST_HELD: Duration = Duration::from_millis(50);

/// Something to be written.
pub(crate) enum Job {
    Begin {
        run: RunId,
        directory: RunDir,
    },
    /// Lines without their last newline.
    Append {
        run: RunId,
        log: Log,
        lines: Bytes,
    },
    End {
        run: RunId,
        ending: Ending,
        at: Timestamp,
        result: Box<RunResult>,
    },
    /// Answered when everything before it is on disk.
    Settle(SyncSender<()>),
}

/// The growing files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Log {
    Events,
    Stdout,
    Stderr,
    Transcript,
}

/// Writes until nobody is left to give it anything.
pub(crate) fn write_all(jobs: &Receiver<Job>, index: &Path, problems: &Problems) {
    let mut writing = Writing {
        index,
        problems,
        runs: HashMap::new(),
        flushed_at: Instant::now(),
    };
    while let Some(job) = writing.next(jobs) {
        match job {
            Job::Begin { run, directory } => {
                writing.runs.insert(run, OpenRun::new(directory));
            }
            Job::Append { run, log, lines } => writing.append(&run, log, &lines),
            Job::End {
                run,
                ending,
                at,
                result,
            } => writing.end(&run, &ending, at, &result),
            Job::Settle(done) => {
                writing.flush();
                // Whoever asked may have left.
                _ = done.send(());
            }
        }
    }
    writing.flush();
}

struct Writing<'a> {
    index: &'a Path,
    problems: &'a Problems,
    runs: HashMap<RunId, OpenRun>,
    flushed_at: Instant,
}

struct OpenRun {
    directory: RunDir,
    /// `None` for a file that could not be written: what follows a gap would only mislead.
    files: HashMap<Log, Option<BufWriter<File>>>,
}

impl Writing<'_> {
    /// The next job; what was written is handed to the system whenever there is a pause or none
    /// for long, so that whoever follows a file sees it grow.
    fn next(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        if self.flushed_at.elapsed() >= LONGEST_HELD {
            self.flush();
        }
        match jobs.recv_timeout(PAUSE) {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => {
                self.flush();
                jobs.recv().ok()
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn append(&mut self, run: &RunId, log: Log, lines: &[u8]) {
        if let Some(open) = self.runs.get_mut(run)
            && let Err(problem) = open.append(log, lines)
        {
            self.note(run, problem);
        }
    }

    fn flush(&mut self) {
        self.flushed_at = Instant::now();
        let problems: Vec<(RunId, String)> = self
            .runs
            .iter_mut()
            .flat_map(|(run, open)| {
                open.flush()
                    .into_iter()
                    .map(|problem| (run.clone(), problem))
            })
            .collect();
        for (run, problem) in problems {
            self.note(&run, problem);
        }
    }

    fn end(&mut self, run: &RunId, ending: &Ending, at: Timestamp, result: &RunResult) {
        let Some(mut open) = self.runs.remove(run) else {
            return;
        };
        for problem in open.flush() {
            self.note(run, problem);
        }
        // A result is of no use without what was asked. Where that cannot be synced, neither can this.
        _ = files::sync(&open.directory.meta());
        let path = open.directory.result();
        let written = serde_json::to_vec_pretty(result)
            .map_err(io::Error::from)
            .and_then(|content| open.directory.write_once(run_dir::RESULT, &content));
        match written {
            // Somebody ended the run while we were stopped, and has written down how.
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => self.note(run, could_not_write(&path, &error)),
        }
        if let Err(error) = index::append_end(self.index, run, ending, at) {
            self.note(run, could_not_write(self.index, &error));
        }
    }

    fn note(&self, run: &RunId, problem: String) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.entry(run.clone()).or_default().push(problem);
    }
}

impl OpenRun {
    fn new(directory: RunDir) -> Self {
        Self {
            directory,
            files: HashMap::new(),
        }
    }

    fn append(&mut self, log: Log, lines: &[u8]) -> Result<(), String> {
        let failed = |error| could_not_write(&self.directory.path().join(log.name()), &error);
        let file = match self.files.entry(log) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let file = unknown.insert(None);
                let opened = self.directory.append(log.name()).map_err(failed)?;
                *file = Some(BufWriter::new(opened));
                file
            }
        };
        let Some(open) = file else {
            return Ok(());
        };
        open.write_all(lines)
            .and_then(|()| open.write_all(b"\n"))
            .map_err(|error| {
                give_up(file);
                failed(error)
            })
    }

    fn flush(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        for (log, file) in &mut self.files {
            if let Some(open) = file
                && let Err(error) = open.flush()
            {
                give_up(file);
                problems.push(could_not_write(
                    &self.directory.path().join(log.name()),
                    &error,
                ));
            }
        }
        problems
    }
}

/// Drops a file without trying once more to write what it still holds.
fn give_up(file: &mut Option<BufWriter<File>>) {
    if let Some(open) = file.take() {
        _ = open.into_parts();
    }
}

impl Log {
    fn name(self) -> &'static str {
        match self {
            Self::Events => run_dir::EVENTS,
            Self::Stdout => run_dir::STDOUT,
            Self::Stderr => run_dir::STDERR,
            Self::Transcript => run_dir::TRANSCRIPT,
        }
    }
}

fn could_not_write(path: &Path, error: &io::Error) -> String {
    format!("could not write {}: {error}", path.display())
}
