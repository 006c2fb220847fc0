//! Review: everything that waits for a person, and taking it.
//!
//! The [`ReviewQueue`] gathers what waits in a project: questions, runs at their limit, results in the
//! order in which they are proposed, failed runs. [`AcceptAll`] rehearses results in a scratch copy of
//! the checkout until it knows which of them are green together, and lands those in one step;
//! [`undo`](undo::undo) takes the last landing back. The rules are in `vocabulary::review`, the writer
//! is in `git`; the reasons are in `docs/design/review.md`.

mod accept_all;
mod accept_news;
mod accept_report;
mod acceptor;
mod attempts;
mod close;
mod fates;
mod gate_run;
mod gate_sandbox;
mod landing_note;
mod later;
mod printed_queue;
mod questions;
mod queue;
mod raise;
mod rehearsed_results;
mod result_facts;
mod result_parts;
mod result_source;
mod returned_result;
mod review_gates;
mod review_lock;
mod scratch;
mod stacked_facts;
pub mod undo;
mod undo_half;
mod waiting_runs;

pub use self::accept_all::AcceptAll;
pub use self::accept_news::AcceptNews;
pub use self::accept_report::{AcceptReport, Fate, PrintedAccept, ReviewedResult};
pub use self::attempts::{OtherAttempt, note_pick};
pub use self::later::{ReviewNote, note_later};
pub use self::printed_queue::PrintedQueue;
pub use self::questions::WaitingQuestion;
pub use self::queue::{ReviewQueue, WaitingResult};
pub use self::raise::raise_for;
pub use self::result_parts::WantedParts;
pub use self::result_source::{ResultSource, seen_lines};
pub use self::returned_result::{ResultsToReturn, ReturnedResult};
pub use self::review_gates::ReviewGates;
pub use self::undo_half::{HalfGates, HalfUndo, UndoneHalf};
pub use self::waiting_runs::{PausedRun, StopKind, StoppedRun};
