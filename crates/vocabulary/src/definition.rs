//! A named agent as a user wrote it down, in any of the file formats.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::{
    Dialect, Field, FieldValue, Gate, Isolation, Origin, RunnerChoice, Secret, ThinkingLevel,
};

/// A named agent.
///
/// An absent field means that the child's own default holds.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The provider of its model.
    pub provider: Option<String>,
    /// A model id or pattern.
    pub model: Option<String>,
    /// The thinking level of the model.
    pub thinking: Option<ThinkingLevel>,
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
    /// The kind of child that does its work.
    pub runner: Option<RunnerChoice>,
    /// The place where its runs work.
    pub isolation: Option<Isolation>,
    /// The time limit of a run.
    pub timeout: Option<Duration>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// It came with a project.
    Project,
    /// It is the user's own.
    Global,
}

impl Definition {
    /// Makes a definition that has only a name.
    pub fn new(name: impl Into<String>, dialect: Dialect, scope: Scope, file: PathBuf) -> Self {
        Self {
            name: name.into(),
            description: None,
            dialect,
            scope,
            file,
            origins: BTreeMap::new(),
            provider: None,
            model: None,
            thinking: None,
            tools: None,
            no_tools: false,
            exclude_tools: None,
            extensions: Vec::new(),
            no_extensions: false,
            suggested_skills: Vec::new(),
            load_skills: Vec::new(),
            no_skills: false,
            no_context_files: false,
            body: None,
            append_system_prompt: None,
            api_key: None,
            extra_args: Vec::new(),
            runner: None,
            isolation: None,
            timeout: None,
            gates: Vec::new(),
            output_schema: None,
            output_schema_file: None,
            finalize: dialect.finalizes(),
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
        let switch = |is_on: bool| is_on.then_some(FieldValue::Switch(true));
        match field {
            Field::Name => Some(FieldValue::Text(&self.name)),
            Field::Description => text(self.description.as_deref()),
            Field::Provider => text(self.provider.as_deref()),
            Field::Model => text(self.model.as_deref()),
            Field::Thinking => self.thinking.map(|level| FieldValue::Text(level.as_str())),
            Field::Tools => self.tools.as_deref().map(FieldValue::Names),
            Field::NoTools => switch(self.no_tools),
            Field::ExcludeTools => self.exclude_tools.as_deref().map(FieldValue::Names),
            Field::Extensions => some(&self.extensions).map(FieldValue::Texts),
            Field::NoExtensions => switch(self.no_extensions),
            Field::SuggestedSkills => some(&self.suggested_skills).map(FieldValue::Names),
            Field::LoadSkills => some(&self.load_skills).map(FieldValue::Names),
            Field::NoSkills => switch(self.no_skills),
            Field::NoContextFiles => switch(self.no_context_files),
            Field::AppendSystemPrompt => text(self.append_system_prompt.as_deref()),
            Field::ApiKey => self.api_key.as_ref().map(FieldValue::Secret),
            Field::ExtraArgs => some(&self.extra_args).map(FieldValue::Texts),
            Field::Runner => self.runner.map(|runner| FieldValue::Text(runner.as_str())),
            Field::Isolation => self
                .isolation
                .map(|isolation| FieldValue::Text(isolation.as_str())),
            Field::Timeout => self.timeout.map(FieldValue::Time),
            Field::Gate => (!self.gates.is_empty()).then_some(FieldValue::Gates(&self.gates)),
            Field::OutputSchema => self.output_schema.as_ref().map(FieldValue::Json),
            Field::OutputSchemaFile => text(self.output_schema_file.as_deref()),
            Field::Finalize => (self.finalize || self.origins.contains_key(&field))
                .then_some(FieldValue::Switch(self.finalize)),
            Field::Body => text(self.body.as_deref()),
        }
    }

    /// Returns the file, with the line of a field if the file sets it: `scout.md:3`.
    pub fn place_of(&self, field: Field) -> String {
        let file = self.file.display();
        match self.origins.get(&field) {
            Some(origin) => format!("{file}:{}", origin.line),
            None => file.to_string(),
        }
    }

    /// Returns whether this is the built-in definition, which no file has and which sets nothing.
    pub fn is_built_in(&self) -> bool {
        self.file.as_os_str().is_empty()
    }

    /// Returns whether the definition restricts the tools of a child.
    pub fn restricts_tools(&self) -> bool {
        self.no_tools || self.tools.is_some() || self.exclude_tools.is_some()
    }
}

fn text(text: Option<&str>) -> Option<FieldValue<'_>> {
    text.map(FieldValue::Text)
}

fn some(list: &[String]) -> Option<&[String]> {
    (!list.is_empty()).then_some(list)
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
