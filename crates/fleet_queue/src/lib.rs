//! # Runs on other machines
//!
//! A fleet is a NATS account with our streams. A caller gives an order for each run; a worker takes
//! it, runs it, and ends it. Read in this order:
//!
//! - [`names`]: all names on the servers;
//! - [`wire`]: the messages between the machines;
//! - [`address`], [`connect`], [`error`], `patience`, `absence`, [`keys`]: the connection, its errors,
//!   and how long servers that are away are waited for;
//! - [`permissions`], `permission_check`: the rights of callers and workers on the servers;
//! - [`setup`]: the streams, buckets and consumers;
//! - `refusals`, `ask`, [`store`]: what is not permitted, one request, and keys with values;
//! - `stream_reader`, `run_watch`: the messages of streams and the changes of keys, as they come;
//! - `record`: the bytes of a run's record, from the worker to its readers;
//! - [`blobs`], `control`, `words`: large objects, requests to the process that runs a run, and the
//!   words that its model is writing;
//! - [`claim`], [`ending`], [`lease`]: the rules of who may run and end a run, without a network;
//! - [`queue`], `places`, [`puller`], [`delivery`], `heartbeat`, [`held_run`], [`claim_attempt`]: the life of a run, from
//!   its order to its end;
//! - [`runs`], [`presence`], `missed_callers`: the entries of runs, workers and callers in the store,
//!   and the rule of when a caller is gone;
//! - `storage`, `probe`: the store on the servers, for somebody who looks after it;
//! - `abandonment`: runs that nobody does any more, and whose order is gone;
//! - [`holder_rule`], [`sessions`]: conversations that runs on several machines continue, and the rule of
//!   who may.
//!
//! Three rules are ours, and everything else is the server's: a run is claimed with the number of
//! its delivery, it ends by one compare-and-set before its message is acknowledged, and the bytes
//! of its record go back to where they were lost. `docs/design/fleet-queue.md` has the reasons.
//!
//! The crate knows no engine, no session files and no windows: the app puts them together.

mod abandonment;
mod absence;
pub mod address;
mod ask;
pub mod blobs;
pub mod claim;
pub mod claim_attempt;
pub mod connect;
mod control;
pub mod delivery;
pub mod ending;
pub mod error;
mod heartbeat;
pub mod held_run;
pub mod holder_rule;
mod kept_key;
pub mod keys;
mod late_changes;
pub mod lease;
mod missed_callers;
pub mod names;
mod patience;
mod permission_check;
pub mod permissions;
mod places;
pub mod presence;
mod probe;
pub mod puller;
pub mod queue;
mod record;
mod refusals;
mod run_watch;
pub mod runs;
pub mod sessions;
pub mod setup;
mod signatures;
mod starting_states;
mod steps;
mod storage;
pub mod store;
mod stream_reader;
pub mod wire;
mod words;

pub use abandonment::Knowledge;
pub use absence::{Absence, Turn};
pub use address::Address;
pub use async_nats::HeaderMap;
pub use blobs::{BlobError, Blobs};
pub use claim::GiveUp;
pub use claim_attempt::{Claim, Earlier, Terms};
pub use connect::Fleet;
pub use control::{Asked, Request, Requests};
pub use delivery::Delivery;
pub use error::{FleetError, MissingPart};
pub use heartbeat::Standing;
pub use held_run::{Begun, Held, Kept};
pub use holder_rule::Taker;
pub use keys::Key;
pub use patience::Patience;
pub use permissions::Permissions;
pub use presence::{Arrival, CallerLease, Presence};
pub use probe::Probe;
pub use puller::Puller;
pub use queue::{Again, PoolLoad, Submission, Submitted};
pub use record::{
    ChunkFit, MOST_FILES, RecordChunk, RecordReader, RecordSender, SendError, chunk_fit,
    record_lengths, travels,
};
pub use run_watch::RunWatch;
pub use runs::CallerEnd;
pub use sessions::{HeldSession, TakenSession};
pub use setup::Shape;
pub use signatures::signer;
pub use starting_states::begins;
pub use steps::die_at;
pub use storage::{LaggingServer, Storage};
pub use words::Words;
