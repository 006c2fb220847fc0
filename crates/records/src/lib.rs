//! # Events → disk → history
//!
//! Every run has a directory, and the directory is the record:
//!
//! ```text
//! <project>/.pi/subagents/runs/            carries its own ignore file
//!   <run id>/
//!     meta.json             the task and the owner of the run; written first
//!     events.jsonl          the child's records, and ours about its life
//!     stdout.log            output of the child that is no record
//!     stderr.log            the child's stderr
//!     transcript.log        the conversation as a person reads it
//!     child-extension.cjs   the extension that a pi child loads beside its flags
//!     child-session.jsonl   the child's own session file
//!     system-prompt.md      the system prompt of the child, if we gave it one
//!     workspace.json        its worktree, if it has one of its own
//!     result.json           the ending; written last, by rename
//!     fleet.json            which delivery of a fleet run the files hold, and from where on
//!     notified-SESSION      made by the pi that gave this session its notice of a background run
//! <agent dir>/subagents-index.jsonl        run and session ids → directories
//! ~/.pi/subagent-sessions/<cwd>/           conversations that several runs continue
//! ```
//!
//! [`Store`] makes and finds these; [`Recorder`] is the sink that fills them; [`transcript`] turns
//! records into text. The index can be rebuilt from the directories, and there is no other database.
//! See `docs/design/record.md`.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod changed_files;
mod closing;
mod disk;
mod finder;
mod format;
mod found;
mod growing_file;
mod index;
mod log;
mod open_run;
mod owner;
mod placed;
mod problems;
mod record;
mod record_files;
mod recorded_time;
mod recorder;
mod recovery;
mod reindex;
mod removal;
mod replay;
mod reserve;
mod run_dir;
mod runs_place;
mod seal;
mod sequence;
mod session_tools;
mod sticky;
mod sticky_files;
mod store;
mod tail;
pub mod transcript;
mod travelling;
mod used;
mod write_batch;
mod writer;

pub use changed_files::note_changed_files;
pub use finder::{FindScope, Findable, FindableFacts, Finder, Prefers, find_removed};
pub use format::{Travelled, recorded_line};
pub use found::{
    Candidate, Conversation, FindError, Found, LatestElsewhere, RunIds, SHORTEST_BEGINNING,
    runs_of_session,
};
pub use growing_file::GrowingFile;
pub use index::{IndexedRun, RemovedRun, RunState};
pub use owner::{CallerName, Detached, OwnerName};
pub use placed::{PlacedEvent, PlacedReader, event_at, raw_lines};
pub use problems::RecordProblems;
pub use record::{RecordedEnd, RecordedRun};
pub use record_files::RecordError;
pub use recorder::Recorder;
pub use removal::{QuietIndex, Removal};
pub use replay::{history, read_events};
pub use run_dir::RunDir;
pub use session_tools::{SessionTools, tools_of_session};
pub use sticky::{StickySession, lock_of as lock_of_session};
pub use sticky_files::{StickyFile, sticky_files};
pub use store::{BeginError, NewRun, Store};
pub use tail::RecordTail;
pub use travelling::install_session;
pub use used::Used;
