//! The cards of workers and callers. Their owners renew them, and they vanish when they are not
//! renewed.

use pi_subagents_vocabulary::Sandbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The card of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerCard {
    /// The pools it takes orders from.
    pub pools: Vec<String>,
    /// The number of runs that it has room for.
    pub slots: u32,
    /// The number of these places that are free.
    pub free: u32,
    /// Its rank: 0 is asked first.
    pub rank: u8,
    /// The runs it has.
    pub runs: Vec<String>,
    /// The version of pi-subagents.
    pub version: String,
    /// Its operating system.
    pub os: String,
    /// Its processor.
    pub arch: String,
    /// The version of pi, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// The models it has keys for.
    pub models: Vec<String>,
    /// The time at which it began, by its clock.
    pub since: String,
    /// The directory that it works in, as a word that no other directory has. A worker that is
    /// started again after a crash has the same.
    pub instance: String,
    /// Its user and machine, for people.
    pub machine: String,
    /// This is true when it takes nothing new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub draining: bool,
}

/// The card of a run: what somebody on another machine must know of it in order to read its record.
/// Its caller writes it with the order, and it is kept as long as the run's entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunCard {
    /// Its session.
    pub session: String,
    /// The name that the caller gave the task.
    pub name: String,
    /// The caller, as `user@machine`.
    pub caller: String,
    /// The beginning of the prompt as the caller gave it.
    pub asked: String,
    /// The pool.
    pub pool: String,
    /// The definition it uses, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The agent of the conversation that it continues, if the fleet keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The repository it works in, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The path inside the repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub inside: String,
    /// The states that it begins from, in the project and in its submodules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<Begin>,
    /// The directory on the caller's machine, for people.
    pub directory: String,
    /// This is true if its result must meet a schema.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_schema: bool,
    /// The sandbox that its caller has asked for.
    #[serde(skip_serializing_if = "Sandbox::is_plain")]
    pub sandbox: Sandbox,
    /// This is true if nobody waits for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The time at which it was given, by the caller's clock.
    pub issued: String,
}

/// The state that a run begins from in one repository. Its changes are shown and merged against it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Begin {
    /// The path in the project; empty for the project itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The commit.
    pub commit: String,
    /// The object that leads to the commit, if the commit is not in the history of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The commit that somebody must have in order to read the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

/// The card of a caller who waits for runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallerCard {
    /// The caller who waits, as `user@machine`.
    pub caller: String,
    /// Since when, by its clock.
    pub since: String,
}
