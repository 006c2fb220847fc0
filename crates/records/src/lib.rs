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
//! <agent dir>/subagents-budgets/           one ledger per budget
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

mod abandoned_run;
mod changed_files;
mod disk;
mod finder;
mod fleet_sessions;
mod format;
mod growing_file;
mod id_lookup;
mod index;
mod ledger;
mod log;
mod open_run;
mod owner;
mod placed_events;
mod problems;
mod record;
mod record_files;
mod record_line;
mod recorded_time;
mod recorder;
mod recovery;
mod reindex;
mod removal;
mod replay;
mod reserve;
mod run_dir;
mod run_figures;
mod runs_place;
mod seal;
mod sequence;
mod session_size;
mod session_tools;
mod sticky;
mod sticky_files;
mod store;
mod tail;
pub mod transcript;
mod write_batch;
mod writer;

pub use changed_files::note_changed_files;
pub use finder::{FindScope, Findable, FindableFacts, Finder, Prefers, find_removed};
pub use fleet_sessions::install_session;
pub use format::{Travelled, recorded_line};
pub use growing_file::GrowingFile;
pub use id_lookup::{
    Candidate, CandidateConversation, FindError, LatestElsewhere, RunIds, RunOrSession,
    SHORTEST_BEGINNING, runs_of_session,
};
pub use index::{FinishedRun, IndexedRun, RemovedRun, RunState, Survey, SurveyDepth};
pub use ledger::Ledgers;
pub use owner::{CallerName, Detached, OwnerName};
pub use placed_events::{PlacedEvent, PlacedReader, event_at, raw_lines};
pub use problems::RecordProblems;
pub use record::RecordedRun;
pub use record_files::RecordError;
pub use recorder::Recorder;
pub use removal::{QuietIndex, Removal};
pub use replay::{history, history_of, read_events};
pub use run_dir::{NoticeOf, RunDir};
pub use run_figures::Used;
pub use session_size::{SessionSize, tokens_of_bytes};
pub use session_tools::{SessionTools, tools_of_session};
pub use sticky::{StickySession, all_of as sticky_sessions_folder, lock_of as lock_of_session};
pub use sticky_files::{StickyFile, sticky_files};
pub use store::{BeginError, NewRun, Store};
pub use tail::RecordTail;
