//! Review: what a person should know before they take the work of a sub-agent.
//!
//! Three pure rules. [`ranked`] puts results into the order in which they are proposed, with a tier
//! and named reasons for each (`risk.rs`, `rank.rs`). [`unseen_claims`] compares what an answer
//! claims with what the receipt has seen (`claims/`). [`accept`] finds the results that a gate lets in
//! together (`acceptance.rs`). The reasons are in `docs/design/review.md`.

mod acceptance;
mod claims;
mod facts;
mod file_diff;
mod path_kind;
mod rank;
mod reason;
mod risk;
mod send_back;
mod task_words;

pub use self::acceptance::{Acceptance, RedResult, Rehearsal, accept};
pub use self::claims::{AnswerRecord, unseen_claims};
pub use self::facts::{ResultFacts, RunClash, TouchedPath};
pub use self::file_diff::{DiffLine, DiffSide, FileDiff, is_folded};
pub use self::rank::{RankedResult, ranked};
pub use self::reason::{RiskReason, RiskRule, RiskTier};
pub use self::send_back::{FailedGate, LineComment, MergedState, OtherWork, SentBack, WorkState};
