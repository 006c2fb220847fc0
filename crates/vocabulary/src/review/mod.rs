//! Review: what a person should know before they take the work of a sub-agent.
//!
//! Two pure rules. [`ranked`] puts results into the order in which they are proposed, with a tier
//! and named reasons for each (`risk.rs`, `rank.rs`). [`unseen_claims`] compares what an answer
//! claims with what the receipt has seen (`claims/`). The reasons are in `docs/design/review.md`.

mod claims;
mod facts;
mod path_kind;
mod rank;
mod reason;
mod risk;
mod task_words;

pub use self::claims::{AnswerRecord, unseen_claims};
pub use self::facts::{ResultFacts, RunClash, TouchedPath};
pub use self::rank::{RankedResult, ranked};
pub use self::reason::{RiskReason, RiskRule, RiskTier};
