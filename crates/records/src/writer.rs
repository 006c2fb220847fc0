//! The thread that writes run directories.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pi_subagents_vocabulary::{Ending, RunId, Timestamp};
use tracing::{debug, trace, warn};

use crate::format::RunResult;
use crate::index;
use crate::log::{Log, Origin};
use crate::open_run::{OpenRun, Problem, Unwritten};
use crate::problems::{Problems, could_not_write};
use crate::run_dir::RunDir;
use crate::run_figures::UsedByRun;

/// The time without a job after which the writer hands its lines to the system.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest time it holds lines when there is no such pause.
const LONGEST_HELD: Duration = Duration::from_millis(50);

/// The pause between two signs of life that the writer leaves for a run without events.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// The largest number of results that wait for room on the disk.
const MOST_UNWRITTEN: usize = 16;

/// Something to be written.
pub(crate) enum Job {
    Begin {
        run: RunId,
        directory: RunDir,
        /// The number of bytes that the run's files may take.
        limit: u64,
    },
    /// Lines without their last newline.
    Append {
        run: RunId,
        log: Log,
        origin: Origin,
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

/// Writes until nobody is left to send jobs.
pub(crate) fn write_all(jobs: &Receiver<Job>, index: &Path, problems: &Problems) {
    let mut writing = Writing {
        index,
        problems,
        runs: HashMap::new(),
        unwritten: Vec::new(),
        flushed_at: Instant::now(),
    };
    while let Some(job) = writing.next(jobs) {
        match job {
            Job::Begin {
                run,
                directory,
                limit,
            } => {
                writing.runs.insert(run, OpenRun::new(directory, limit));
            }
            Job::Append {
                run,
                log,
                origin,
                lines,
            } => {
                trace!(%run, bytes = lines.len(), "record grows");
                writing.append(&run, log, origin, &lines);
            }
            Job::End {
                run,
                ending,
                at,
                result,
            } => {
                writing.end(&run, &ending, at, *result);
                debug!(%run, "record is complete");
            }
            Job::Settle(done) => {
                writing.flush();
                // The asker may have left.
                _ = done.send(());
            }
        }
    }
    writing.flush();
    writing.try_again();
}

struct Writing<'a> {
    index: &'a Path,
    problems: &'a Problems,
    runs: HashMap<RunId, OpenRun>,
    /// Results for which there was no room.
    unwritten: Vec<Unwritten>,
    flushed_at: Instant,
}

impl Writing<'_> {
    /// Waits for the next job. Written lines are handed to the system whenever there is a pause, or
    /// after a long time without one, so that a follower of a file sees it grow.
    fn next(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        if self.flushed_at.elapsed() >= LONGEST_HELD {
            self.flush();
        }
        match jobs.recv_timeout(PAUSE) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Timeout) => self.flush(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        while !self.runs.is_empty() {
            match jobs.recv_timeout(SIGN_OF_LIFE) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout) => self.runs.values().for_each(OpenRun::touch),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        jobs.recv().ok()
    }

    fn append(&mut self, run: &RunId, log: Log, origin: Origin, lines: &[u8]) {
        let Some(open) = self.runs.get_mut(run) else {
            return;
        };
        let mut problems = Vec::from_iter(open.append(log, origin, lines).err());
        // Our own lines, such as the start of a run or a message to it, are visible at once. They
        // are few.
        if origin == Origin::Owner {
            problems.extend(open.flush());
        }
        for problem in problems {
            self.note(run, problem);
        }
    }

    fn flush(&mut self) {
        self.flushed_at = Instant::now();
        let problems: Vec<(RunId, Problem)> = self
            .runs
            .iter_mut()
            .flat_map(|(run, open)| {
                let problems = open.flush().into_iter();
                problems.map(|problem| (run.clone(), problem))
            })
            .collect();
        for (run, problem) in problems {
            self.note(&run, problem);
        }
    }

    fn end(&mut self, run: &RunId, ending: &Ending, at: Timestamp, result: RunResult) {
        let Some(mut open) = self.runs.remove(run) else {
            return;
        };
        for problem in open.flush() {
            self.note(run, problem);
        }
        self.try_again();
        let used = UsedByRun::from(&result.report);
        match open.end(result, at) {
            // Somebody ended the run while we were stopped, and has written down how.
            Ok(false) => return,
            Ok(true) => {}
            Err(unwritten) => {
                self.note(run, unwritten.problem.clone());
                if self.unwritten.len() < MOST_UNWRITTEN {
                    self.unwritten.push(unwritten);
                }
            }
        }
        if let Err(error) = index::append_end(self.index, run, ending, at, Some(&used)) {
            let sentence = could_not_write(self.index, &error);
            self.note(run, Problem::Minor(sentence));
        }
    }

    /// Writes the results for which there was no room, if there is room now.
    fn try_again(&mut self) {
        self.unwritten.retain(|result| !result.is_written_now());
    }

    fn note(&self, run: &RunId, problem: Problem) {
        warn!(%run, ?problem, "record has a problem");
        match problem {
            Problem::Minor(sentence) | Problem::Full(sentence) => {
                self.problems.note(run, sentence);
            }
            Problem::Gap(sentence) => self.problems.note_gap(run, sentence),
        }
    }
}
