//! The JSON of the commands about agents.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The JSON of `agents list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentsResult {
    /// The agents that count here.
    pub(super) agents: Vec<ListedAgent>,
    #[serde(flatten)]
    pub(super) seen: SeenBeside,
}

/// The JSON of `agents show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentResult {
    pub(super) agent: PrintedAgent,
    /// The files of the same name that do not count because of this one.
    pub(super) shadowed: Vec<PathBuf>,
    #[serde(flatten)]
    pub(super) seen: SeenBeside,
}

/// The JSON of `agents create` and `agents edit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedResult {
    /// `created` or `updated`.
    pub(super) done: String,
    pub(super) agent: PrintedAgent,
    #[serde(flatten)]
    pub(super) seen: SeenBeside,
}

/// The JSON of `agents add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddedResult {
    /// The agents that were copied; without a name, all that can be.
    pub(super) agents: Vec<ReadyMadeAgent>,
}

/// A ready-made agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReadyMadeAgent {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The copy, if one was made.
    pub(super) file: Option<PathBuf>,
}

/// The JSON of `agents import`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportResult {
    /// The copies.
    pub(super) agents: Vec<ImportedAgent>,
}

/// A copy of another tool's agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedAgent {
    pub(super) name: String,
    /// The file of the other tool.
    pub(super) from: PathBuf,
    /// The copy.
    pub(super) file: PathBuf,
    /// False if the file was not written, because `--dry-run` was given.
    pub(super) is_written: bool,
    /// The whole copy.
    pub(super) text: String,
}

/// The JSON of `agents delete`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedResult {
    /// `deleted`.
    pub(super) done: &'static str,
    pub(super) agent: DeletedAgent,
    /// The file that counts for this name now, if there is one.
    pub(super) counts_now: Option<PathBuf>,
    #[serde(flatten)]
    pub(super) seen: SeenBeside,
}

/// The agent whose file was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedAgent {
    pub(super) name: String,
    pub(super) file: PathBuf,
}

/// The JSON of `agents explain`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainResult {
    pub(super) name: String,
    /// The format of its file.
    pub(super) format: &'static str,
    pub(super) scope: &'static str,
    pub(super) file: PathBuf,
    /// The file that `delegate` takes for this name, if it is another.
    pub(super) delegate_file: Option<PathBuf>,
    pub(super) fields: Vec<ExplainedField>,
    /// What became of the file of another tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<ExplainedNote>,
    pub(super) shadowed: Vec<PathBuf>,
    pub(super) ignored: Vec<IgnoredFile>,
    /// The reasons why it cannot be used, as sentences.
    pub(super) problems: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) notices: Vec<String>,
    /// The sandbox of its runs, if the agent or the settings give them one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<String>,
    /// The arguments that each kind of sub-agent would be started with.
    pub(super) children: Vec<ExplainedChild>,
}

/// A field of an agent, and the place that it comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedField {
    pub(super) key: &'static str,
    pub(super) value: String,
    /// The value in the file of another tool, if it is not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    pub(super) file: Option<PathBuf>,
    pub(super) line: Option<u32>,
    /// The values that do not count because of this one.
    pub(super) shadows: Vec<ShadowedField>,
}

/// What became of a part of another tool's file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedNote {
    /// The line of the file.
    pub(super) line: u32,
    /// `lost`, `narrower` or `note`.
    pub(super) kind: &'static str,
    /// The part of the file: a key, or a name in its value.
    pub(super) subject: String,
    pub(super) reason: String,
}

/// A value that does not count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShadowedField {
    pub(super) file: PathBuf,
    pub(super) line: Option<u32>,
    pub(super) value: String,
}

/// The arguments of a sub-agent, or the reason why it could not be started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedChild {
    pub(super) runner: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
}

/// An agent with one line about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedAgent {
    #[serde(flatten)]
    pub(super) agent: PrintedAgent,
    pub(super) summary: String,
}

/// An agent: its file, and the fields that are set in it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrintedAgent {
    pub(super) name: String,
    /// The format of its file.
    pub(super) format: &'static str,
    pub(super) scope: &'static str,
    pub(super) file: PathBuf,
    /// What an agent of another tool cannot do here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lost: Vec<String>,
    #[serde(flatten)]
    pub(super) fields: Map<String, Value>,
}

/// What was seen beside the agents that count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeenBeside {
    /// The definitions that are ignored for lack of trust.
    pub(super) ignored: Vec<IgnoredFile>,
    /// One sentence for each project with ignored files.
    pub(super) notices: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// A definition that is ignored for lack of trust.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IgnoredFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<&'static str>,
    pub(super) file: PathBuf,
    pub(super) project: PathBuf,
    /// `undecided`, `refused` or `outsideProject`.
    pub(super) reason: &'static str,
}

impl DeletedAgent {
    pub(super) fn new(name: &str, file: &Path) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
        }
    }
}
