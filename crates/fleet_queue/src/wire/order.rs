//! An order: a planned task without the parts that belong to a machine. It names no program, no
//! path of the caller's machine and no key.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// The whole prompt: files, transcript and the caller's words.
    pub prompt: String,
    /// The directory the child works in, relative to the workspace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub relative_cwd: String,
    /// The definition it uses, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<OrderDefinition>,
    /// The wished kind of child: `pi`, `embedded` or `auto`.
    pub runner: String,
    /// The model that answers.
    pub model: Model,
    /// The system prompt of the child.
    #[serde(default)]
    pub system_prompt: OrderSystemPrompt,
    /// The tools of the child.
    pub tools: OrderTools,
    /// The skills of the caller that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<OrderSkill>,
    /// The commands that must pass before it counts as completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<OrderGate>,
    /// The JSON schema that the result in its report must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The condition under which the run counts as done.
    pub completion: OrderCompletion,
    /// The limits of the run.
    pub limits: OrderLimits,
    /// True if the child may use the configuration of the repository.
    pub trusted: bool,
    /// Further arguments for the child.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The conversation it continues, if any.
    #[serde(default)]
    pub conversation: Conversation,
    /// The source of its files.
    pub workspace: Workspace,
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

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderGate {
    /// The command, for `sh -c`.
    pub command: String,
    /// The number of seconds that it may take.
    pub timeout: f64,
    /// The number of times that the sub-agent gets the failure and may mend it.
    pub retries: u32,
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

/// A choice of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Model {
    /// The provider, if it is named apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
}

/// A system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderSystemPrompt {
    /// The text in place of the child's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
    /// The texts that are added to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub append: Vec<String>,
}

/// The tools of a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum OrderTools {
    /// The tools that the child has by itself.
    Default,
    /// These and no others.
    Only(Vec<String>),
    /// All that the child has by itself, but for these.
    AllExcept(Vec<String>),
    /// None.
    None,
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

/// The condition under which a run counts as done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum OrderCompletion {
    /// The child settles.
    Settled,
    /// The child finalizes; it gets at most this number of corrections.
    Finalized(u32),
}

/// The limits of a run; times in seconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrderLimits {
    /// The time from the start of the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// The seconds for which tools may be silent once the time limit is reached.
    pub extension: f64,
    /// The number of equal tool calls in a row that count as a loop; 0 for never.
    pub repetitions: u32,
    /// The number of tokens that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The number of dollars that it may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
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
pub enum Workspace {
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
    pub lfs: Vec<LargeFile>,
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
pub struct LargeFile {
    /// Its id.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_not_known_is_refused_wherever_it_stands() {
        let model: Result<Model, _> = serde_json::from_str(r#"{"model": "a/b", "budget": 1}"#);
        let error = model.unwrap_err().to_string();
        assert!(error.contains("unknown field `budget`"), "{error}");
    }
}
