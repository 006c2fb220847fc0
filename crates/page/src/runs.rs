//! Everything that this crate knows about runs.

use std::future::Future;
use std::pin::Pin;

use tokio::sync::{mpsc, watch};

/// The runs of a user, as the page asks about them.
pub trait Runs: Send + Sync + 'static {
    /// Answers a question.
    fn answer(&self, question: Question) -> Answering;

    /// Fulfils the wish of a person about a run, and returns the outcome as `message`.
    fn act(&self, run: String, wish: Wish) -> Answering;

    /// Follows events of the present view, which the tab may change. Each piece is one JSON object
    /// in one line; the following ends when the receiver is dropped.
    fn follow(&self, view: watch::Receiver<View>) -> mpsc::Receiver<String>;
}

/// An answer that is being made: JSON as text.
pub type Answering = Pin<Box<dyn Future<Output = Result<String, Problem>> + Send>>;

/// A question of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// The server: its version and its address.
    About {
        /// True if the asker may do more than look.
        may_act: bool,
    },
    /// Some of the runs, newest first.
    Runs {
        /// The project whose runs are wanted; `None` for all runs.
        project: Option<String>,
        /// The words that must be in a run's name, task, model, state or answer.
        words: Option<String>,
        /// The number of runs that are skipped.
        from: usize,
        /// The largest number of runs that are wanted.
        count: usize,
    },
    /// One run, whole.
    Run {
        /// The run.
        run: String,
    },
    /// The events of a run.
    Events {
        /// The run.
        run: String,
        /// The place in its record to begin at; `None` for near the end.
        from: Option<u64>,
    },
    /// Whole texts of a run.
    Texts {
        /// The run.
        run: String,
        /// The places of their lines in its record, each with the number of the part.
        places: Vec<(u64, usize)>,
    },
    /// The record of a run as it is, line by line.
    Raw {
        /// The run.
        run: String,
        /// The place to begin at.
        from: u64,
    },
    /// The spans of runs: how they spent their time.
    Spans {
        /// The runs.
        runs: Vec<String>,
        /// The time that is wanted, in milliseconds; all of it without one.
        part: Option<(i64, i64)>,
        /// About how many spans of each run are wanted; those that nobody could tell apart on a
        /// screen are put together.
        most: Option<usize>,
    },
    /// The changes of a run in its worktree, file by file.
    Changes {
        /// The run.
        run: String,
    },
    /// The fit of runs' results to the checkout.
    Fits {
        /// The runs.
        runs: Vec<String>,
    },
    /// Tokens and costs, by day, model, definition and caller.
    Usage {
        /// The project whose runs count; `None` for all runs.
        project: Option<String>,
    },
    /// The definitions of a project.
    Definitions {
        /// The project; `None` for the project of the server.
        project: Option<String>,
    },
    /// Everything that a file about some runs holds.
    Export {
        /// The runs.
        runs: Vec<String>,
    },
    /// The spans of runs, as a trace that Perfetto and Chrome open.
    Trace {
        /// The runs.
        runs: Vec<String>,
    },
}

/// Something that a person wants of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// It gets this message before its next turn.
    Steer(String),
    /// It ends now, with all its processes.
    Stop,
    /// Its session goes on with this prompt.
    Continue(String),
    /// A new run does the same task with this model.
    Again(String),
    /// Its changes in its worktree come into the checkout.
    Merge,
    /// Its worktree goes, with what it has changed there.
    Discard,
}

/// The part of the runs that a tab looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The project whose finished runs are listed; `None` for all runs.
    pub project: Option<String>,
    /// The run that is open.
    pub run: Option<String>,
    /// The place in its record behind the part that the tab has read already.
    pub from: u64,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// True if the run or the project is unknown.
    pub is_not_found: bool,
    /// The problem and its remedy, for a person.
    pub message: String,
}

impl Problem {
    /// Makes the problem that something failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            is_not_found: false,
            message: message.into(),
        }
    }

    /// Makes the problem that there is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self {
            is_not_found: true,
            message: message.into(),
        }
    }
}
