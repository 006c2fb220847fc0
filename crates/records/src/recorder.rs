//! The sink that writes run directories. The disk is served by a thread of its own behind a
//! bounded channel: when it is slow, the engine waits, and so do the children.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use pi_subagents_vocabulary::{EventSink, Happening, RunEvent, RunId, RunSummary, Task};

use crate::format::RunResult;
use crate::problems::{Problems, RecordProblems};
use crate::recorded_time::RecordedTime;
use crate::run_dir::RunDir;
use crate::write_batch::WriteBatch;
use crate::writer::{Job, write_all};

/// The number of writes that may wait for the disk, each of up to [`WriteBatch::ENOUGH`] bytes or
/// one line.
const WAITING: usize = 32;

/// Records the runs of an owner. Clones share one writer, which writes in the order of the events.
///
/// # Dropping
///
/// Dropping the last clone waits until everything is on disk. A writer that panics has printed why;
/// the runs go on without a record from there on, and [`Recorder::settle`] returns at once.
#[derive(Clone)]
pub struct Recorder {
    writer: Arc<Writer>,
    /// The last time that the record of each open run holds.
    times: HashMap<RunId, RecordedTime>,
}

struct Writer {
    jobs: Option<SyncSender<Job>>,
    problems: Problems,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts the writer; ends of runs are noted in this index too. Fails if the system has no room
    /// for a thread.
    pub fn start(index: PathBuf) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(WAITING);
        let problems = Problems::default();
        let noted = problems.clone();
        let write = move || write_all(&waiting, &index, &noted);
        let thread = std::thread::Builder::new().spawn(write)?;
        Ok(Self {
            writer: Arc::new(Writer {
                jobs: Some(jobs),
                problems,
                thread: Some(thread),
            }),
            times: HashMap::new(),
        })
    }

    /// Waits until all events so far are on disk.
    pub fn settle(&self) {
        let (done, wait) = sync_channel(0);
        self.send(Job::Settle(done));
        // The writer drops its end when it cannot go on, and then there is nothing to wait for.
        _ = wait.recv();
    }

    /// Returns the parts of a run's record that could not be written. They are returned once, for
    /// the caller.
    pub fn take_problems(&self, run: &RunId) -> RecordProblems {
        self.writer.problems.take(run)
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.writer.jobs {
            // A writer that is gone has noted why.
            _ = jobs.send(job);
        }
    }

    fn begin(&self, task: &Task) {
        if let Some(directory) = &task.directory {
            self.send(Job::Begin {
                run: task.run.clone(),
                directory: RunDir::new(directory),
                limit: task.record_limit,
            });
        }
    }

    fn end(&self, event: &RunEvent, summary: &RunSummary) {
        let (Some(result), Some(ending)) = (RunResult::of(summary), &summary.ending) else {
            return;
        };
        self.send(Job::End {
            run: event.run.clone(),
            ending: ending.clone(),
            at: event.at,
            result: Box::new(result),
        });
    }

    fn append_all(&self, run: &RunId, batch: &mut WriteBatch) {
        for (log, origin, lines) in batch.take() {
            self.send(Job::Append {
                run: run.clone(),
                log,
                origin,
                lines,
            });
        }
    }
}

impl EventSink for Recorder {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let Some(RunEvent { run, .. }) = events.first() else {
            return;
        };
        let mut time = self.times.remove(run).unwrap_or_default();
        let mut batch = WriteBatch::default();
        for event in events {
            if let Happening::Accepted(task) = &event.happening {
                self.begin(task);
            }
            batch.add(event, &mut time);
            if batch.is_enough() {
                self.append_all(run, &mut batch);
            }
        }
        self.append_all(run, &mut batch);
        match events.last() {
            Some(last) if summary.ending.is_some() => self.end(last, summary),
            _ => _ = self.times.insert(run.clone(), time),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer has been printed by its own thread.
            _ = thread.join();
        }
    }
}
