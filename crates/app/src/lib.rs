//! # pi-subagents
//!
//! A team of sub-agents for a Rust program. The door is [`Team`]: it is opened with [`TeamOptions`],
//! takes [`Task`]s and gives [`Outcome`]s. The events of its runs go to [`EventSink`]s. The types of
//! events are those of [`vocabulary`].

pub use pi_subagents_team::{
    ChangedFile, Clash, Conflict, Delegated, ForEach, MergeCheck, MergeOutcome, Merged, Outcome,
    Task, TaskWorkspace, TaskWorkspaceState, Team, TeamError, TeamErrorKind, TeamOptions,
};
pub use pi_subagents_vocabulary as vocabulary;
pub use pi_subagents_vocabulary::{
    Definition, Ending, EventSink, RunEvent, RunId, RunReport, RunSummary, RunnerChoice, SessionId,
    Status, Usage,
};
