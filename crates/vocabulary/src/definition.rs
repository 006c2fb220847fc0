//! A named agent as a user wrote it down, in any of the file formats.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::{
    BadReach, Dialect, Field, FieldValue, Gate, Isolation, McpServer, NetworkReach, Origin,
    PermissionChoice, QuestionChoice, RunnerChoice, SandboxLevel, SandboxWish, Secret,
    ThinkingLevel, Translation,
};

/// A named agent.
///
/// An absent field means that the child's own default holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a switch of the file that is there or not"
)]
pub struct Definition {
    /// The name of the definition.
    pub name: String,
    /// The purpose of the agent.
    pub description: Option<String>,
    /// The format of its file.
    pub dialect: Dialect,
    /// The owner of the definition: the user or a project.
    pub scope: Scope,
    /// The file it was read from.
    pub file: PathBuf,
    /// The place of each of its fields in the file.
    pub origins: BTreeMap<Field, Origin>,
    /// What became of its file, if that is of another tool.
    pub translation: Option<Translation>,
    /// The provider of its model.
    pub provider: Option<String>,
    /// A model id or pattern.
    pub model: Option<String>,
    /// The thinking level of the model.
    pub thinking: Option<ThinkingLevel>,
    /// Models that take over, in this order, if its model cannot be asked.
    pub fallback_models: Vec<String>,
    /// The only tools it has; never an empty list, which would count as left out.
    pub tools: Option<Vec<String>>,
    /// True if it has no tools at all, whatever its lists name.
    pub no_tools: bool,
    /// Tools it must not have; never an empty list.
    pub exclude_tools: Option<Vec<String>>,
    /// Extensions of pi that are loaded for it.
    pub extensions: Vec<String>,
    /// No other extension is loaded.
    pub no_extensions: bool,
    /// Names of skills that its prompt lists.
    pub suggested_skills: Vec<String>,
    /// Names of skills that are part of its system prompt.
    pub load_skills: Vec<String>,
    /// No skills at all.
    pub no_skills: bool,
    /// Its prompt does not include `AGENTS.md` and the like.
    pub no_context_files: bool,
    /// The text under the frontmatter, trimmed; [`Dialect::body_use`] decides about its use.
    pub body: Option<String>,
    /// The text that is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// A key of its own for the provider.
    pub api_key: Option<Secret>,
    /// Further arguments for the child.
    pub extra_args: Vec<String>,
    /// The MCP servers that its sub-agents have.
    pub mcp_servers: Vec<McpServer>,
    /// The kind of child that does its work.
    pub runner: Option<RunnerChoice>,
    /// The program of an agent of others that does its work, with its arguments.
    pub command: Vec<String>,
    /// The place where its runs work.
    pub isolation: Option<Isolation>,
    /// How much its runs may write.
    pub sandbox: Option<SandboxLevel>,
    /// What the tools of its runs may reach: a word, or hosts.
    pub network: Vec<String>,
    /// Directories that its runs may write beside their workspace.
    pub sandbox_writable: Vec<String>,
    /// Paths that its runs must not see.
    pub sandbox_hidden: Vec<String>,
    /// Paths that its runs may read although they are hidden by default.
    pub sandbox_readable: Vec<String>,
    /// Hosts that its runs may reach beside those of the model.
    pub network_hosts: Vec<String>,
    /// The forms of the only commands that its shell runs; all commands if there are none.
    pub commands: Vec<String>,
    /// The time limit of a run.
    pub timeout: Option<Duration>,
    /// The number of answers that the model of a run may give.
    pub max_turns: Option<u32>,
    /// Whom the model of a run may ask.
    pub questions: Option<QuestionChoice>,
    /// Who answers the dialogs of the child's extensions.
    pub permissions: Option<PermissionChoice>,
    /// Calls that its model may repeat, because they wait for something.
    pub pollers: Vec<String>,
    /// The commands that must pass before a run counts as completed.
    pub gates: Vec<Gate>,
    /// The schema that the result of a run must meet, as it was written.
    pub output_schema: Option<Value>,
    /// The file with that schema; a relative path begins at the directory of this definition.
    pub output_schema_file: Option<String>,
    /// Its runs end with a report, not with their last text.
    pub finalize: bool,
}

/// The owner of a definition: the user or a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// It came with a project.
    Project,
    /// It is the user's own.
    #[default]
    Global,
}

impl Definition {
    /// Makes a definition that has only a name.
    pub fn new(name: impl Into<String>, dialect: Dialect, scope: Scope, file: PathBuf) -> Self {
        Self {
            name: name.into(),
            dialect,
            scope,
            file,
            finalize: dialect.finalizes(),
            ..Self::default()
        }
    }

    /// Returns the key that a field has in this definition's file, or would have.
    pub fn key(&self, field: Field) -> &'static str {
        self.origins
            .get(&field)
            .map_or_else(|| field.key(self.dialect), |origin| origin.key)
    }

    /// Returns the value of a field, if it has one.
    pub fn value(&self, field: Field) -> Option<FieldValue<'_>> {
        field.row().kind.value(self, field)
    }

    /// Takes the value of a field away.
    pub fn unset(&mut self, field: Field) {
        field.row().kind.unset(self, field);
    }

    /// Returns the file, with the line of a field if the file sets it: `scout.md:3`.
    pub fn place_of(&self, field: Field) -> String {
        let file = self.file.display();
        match self.origins.get(&field) {
            Some(origin) => format!("{file}:{}", origin.line),
            None => file.to_string(),
        }
    }

    /// Returns whether a name means this definition: its own, or the one that another tool's file
    /// has for it.
    pub fn is_called(&self, name: &str) -> bool {
        let written = self.translation.as_ref();
        let written = written.and_then(|translation| translation.written_name.as_deref());
        self.name == name || written == Some(name)
    }

    /// Returns whether models may be told of the definition.
    pub fn is_offered_to_models(&self) -> bool {
        let translation = self.translation.as_ref();
        !translation.is_some_and(|translation| translation.is_by_name_only)
    }

    /// Returns whether this is the built-in definition, which no file has and which sets nothing.
    pub fn is_built_in(&self) -> bool {
        self.file.as_os_str().is_empty()
    }

    /// Returns its wish about the sandbox of its runs.
    pub fn sandbox_wish(&self) -> Result<SandboxWish, BadReach> {
        let words = self.network.iter().map(String::as_str);
        let network = (!self.network.is_empty()).then(|| NetworkReach::of_hosts(words));
        Ok(SandboxWish {
            level: self.sandbox,
            network: network.transpose()?,
        })
    }

    /// Returns whether the definition restricts the tools of a child.
    pub fn restricts_tools(&self) -> bool {
        self.no_tools || self.tools.is_some() || self.exclude_tools.is_some()
    }
}

impl Scope {
    /// Returns the word for this scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}
