//! Everything that this crate knows about runs.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tokio::sync::mpsc;

/// The runs of a user, as the page asks about them.
pub trait Runs: Send + Sync + 'static {
    /// Answers a question.
    fn answer(&self, question: Question) -> Answering;

    /// Does to a run what a person wants, and says in `message` what came of it.
    fn act(&self, run: String, wish: Wish) -> Answering;

    /// Follows what happens. Each piece is one JSON object in one line; the following ends when the
    /// receiver is dropped.
    fn follow(&self, view: View) -> mpsc::Receiver<String>;
}

/// An answer that is being made.
pub type Answering = Pin<Box<dyn Future<Output = Result<Value, Problem>> + Send>>;

/// A question of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Who serves, and where.
    About,
    /// Some of the runs, newest first.
    Runs {
        /// The project whose runs are wanted; all runs without one.
        project: Option<String>,
        /// The words that must stand in a run's name, task, model, state or answer.
        words: Option<String>,
        /// How many runs are passed over.
        from: usize,
        /// How many runs are wanted at most.
        count: usize,
    },
    /// One run, whole.
    Run {
        /// The run.
        run: String,
    },
    /// What happened in a run.
    Events {
        /// The run.
        run: String,
        /// The place in its record to begin at; without one, near the end.
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
    /// What runs spent their time on.
    Spans {
        /// The runs.
        runs: Vec<String>,
    },
    /// Tokens and costs, by day, model, definition and caller.
    Usage {
        /// The project whose runs count; all runs without one.
        project: Option<String>,
    },
    /// The definitions of a project.
    Definitions {
        /// The project; the one of the server without one.
        project: Option<String>,
    },
    /// Everything that a file about some runs holds.
    Export {
        /// The runs.
        runs: Vec<String>,
    },
    /// What runs spent their time on, as a trace that Perfetto and Chrome open.
    Trace {
        /// The runs.
        runs: Vec<String>,
    },
}

/// Something that a person wants of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// It is told this before its next turn.
    Steer(String),
    /// It ends now, with all its processes.
    Stop,
    /// Its session goes on with this prompt.
    Continue(String),
}

/// What a tab looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The project whose finished runs are listed; all runs without one.
    pub project: Option<String>,
    /// The run that is open.
    pub run: Option<String>,
    /// The place in its record behind what the tab has read already.
    pub from: u64,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the run or the project is unknown.
    pub is_not_found: bool,
    /// What went wrong and what can be done about it, for a person.
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
