//! An order: the work of a task, with its ids and its files. It names no program, no path of the
//! caller's machine and no key.

use pi_subagents_vocabulary::Work;
use serde::{Deserialize, Serialize};

/// The payload of a message in the work queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Order {
    /// The format of this order, [`super::FORMAT`].
    pub format: u32,
    /// The run it becomes.
    pub run: String,
    /// The session the run belongs to.
    pub session: String,
    /// The call it is part of.
    pub call: String,
    /// The name that the caller gave the task.
    pub name: String,
    /// The caller, as `user@machine`.
    pub caller: String,
    /// The prompt as the caller gave it.
    pub asked: String,
    /// The directory the child works in, relative to the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub relative_cwd: String,
    /// The definition it uses, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<OrderDefinition>,
    /// The work, as it was resolved at the caller.
    pub work: Work,
    /// The skills of the caller that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<OrderSkill>,
    /// The conversation it continues, if any.
    #[serde(default)]
    pub conversation: Conversation,
    /// The source of its files.
    pub workspace: SentWorkspace,
    /// The call whose caller waits for it; `None` for a run in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// The number of times that it is begun again after its worker was lost.
    pub retries: u32,
    /// The features that a worker must know in order to take it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The time at which it was given.
    pub issued: String,
}

impl Order {
    /// The features that a worker of this version knows. Everything that changes whether a run
    /// counts as completed is one: a worker that would leave it out must not take the order.
    pub const FEATURES: [&str; 2] = [Self::GATE, Self::OUTPUT_SCHEMA];

    /// The feature of an order with gates.
    pub const GATE: &str = "gate";

    /// The feature of an order with a schema for its result.
    pub const OUTPUT_SCHEMA: &str = "outputSchema";
}

/// The definition that a task uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderDefinition {
    /// Its name.
    pub name: String,
    /// Its summary, in one line.
    pub summary: String,
}

/// A skill, by its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderSkill {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The conversation that a run continues.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Conversation {
    /// It begins a conversation.
    #[default]
    Fresh,
    /// It continues the conversation that the fleet keeps under a key.
    Sticky(StickyConversation),
}

/// A conversation that the fleet keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StickyConversation {
    /// Its key in the bucket of the sessions.
    pub key: String,
    /// The agent it belongs to.
    pub agent: String,
}

/// The source of a run's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum SentWorkspace {
    /// An empty directory.
    None,
    /// The same path on both machines.
    Shared(Shared),
    /// A repository that the worker clones with its own rights.
    Clone(Cloned),
    /// Git bundles among the objects of the fleet.
    Bundle(Box<Bundle>),
}

/// A directory that both machines see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shared {
    /// Its absolute path.
    pub path: String,
    /// The name of the file in it that proves that it is the same directory.
    pub token_file: String,
    /// The text of that file.
    pub token: String,
}

/// A repository and a commit of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cloned {
    /// The address of the repository, without credentials.
    pub url: String,
    /// The commit.
    pub commit: String,
}

/// A repository as bundles: its history, and the working tree on top of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    /// The id of the repository.
    pub repo: String,
    /// The object with its history; none for a repository without a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commits at which that history is cut off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shallow: Vec<String>,
    /// The commit that the caller has checked out, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The commit that holds the caller's working tree.
    pub commit: String,
    /// True if the run begins from `head`, without the uncommitted files of the caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_head: bool,
    /// The object with the commits that the base does not hold; `None` if it holds everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The address from which the caller's repository was cloned, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The repositories inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submodules: Vec<BundledSubmodule>,
    /// The large files that git keeps apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lfs: Vec<SentLargeFile>,
    /// The ignored files that the caller wants to travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub included: Option<Included>,
}

/// Ignored files, as a commit that no history knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Included {
    /// The object with its bundle.
    pub object: String,
    /// The commit.
    pub commit: String,
}

/// A repository inside a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledSubmodule {
    /// Its path in the outer repository.
    pub path: String,
    /// The repository. It names no submodules: those inside it stand beside it, with longer paths.
    pub bundle: Bundle,
}

/// A file that git keeps apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SentLargeFile {
    /// Its id.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
}
