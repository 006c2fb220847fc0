//! A named agent as a user wrote it down, whatever the format of the file was.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::ThinkingLevel;

/// A named agent.
///
/// An absent field means that the child's own default holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a switch of the file that is there or not"
)]
pub struct Definition {
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub description: Option<String>,
    /// The format of its file.
    pub dialect: Dialect,
    /// Whose it is.
    pub scope: Scope,
    /// The file it was read from.
    pub file: PathBuf,
    /// Where in the file each of its fields stands.
    pub origins: BTreeMap<Field, Origin>,
    /// The provider of its model.
    pub provider: Option<String>,
    /// A model id or pattern.
    pub model: Option<String>,
    /// How much the model may think.
    pub thinking: Option<ThinkingLevel>,
    /// The only tools it has; an empty list is a mistake, not "all".
    pub tools: Option<Vec<String>>,
    /// It has no tools at all, whatever the lists say.
    pub no_tools: bool,
    /// Tools it must not have.
    pub exclude_tools: Option<Vec<String>>,
    /// Extensions of pi that are loaded for it.
    pub extensions: Vec<String>,
    /// No other extension is loaded.
    pub no_extensions: bool,
    /// Names of skills its model is told about.
    pub suggested_skills: Vec<String>,
    /// Names of skills that are part of its system prompt.
    pub load_skills: Vec<String>,
    /// No skills at all.
    pub no_skills: bool,
    /// It is not told what `AGENTS.md` and the like say.
    pub no_context_files: bool,
    /// The text under the frontmatter, trimmed; [`Dialect::body_use`] says what becomes of it.
    pub body: Option<String>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// A key of its own for the provider.
    pub api_key: Option<Secret>,
    /// Further arguments for the child.
    pub extra_args: Vec<String>,
    /// Which kind of child does its work.
    pub runner: Option<RunnerChoice>,
    /// How long a run may take.
    pub timeout: Option<Duration>,
    /// Its runs end with a report, not with their last text.
    pub finalize: bool,
}

/// The format of a definition's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// `agent-profiles/*.md`.
    Profile,
    /// `subagents/*.md`.
    Preset,
    /// `agents/*.md` and folders of the user's choice.
    Prompt,
}

/// What becomes of the text under the frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyUse {
    /// It takes the place of the child's own system prompt.
    Replace,
    /// It follows the child's own system prompt.
    Append,
}

/// Whose a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// It came with a project.
    Project,
    /// It is the user's own.
    Global,
}

/// Where a field stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The key, as the dialect of the file spells it.
    pub key: &'static str,
    /// The line, counted from 1.
    pub line: u32,
}

/// Which kind of child is wished for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerChoice {
    /// Pi where there is one that is new enough, else the embedded agent.
    Auto,
    /// Always pi.
    Pi,
    /// Always the embedded agent.
    Embedded,
}

/// A field of a definition, in the order people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    missing_docs,
    reason = "each is a field of Definition, described there"
)]
pub enum Field {
    Name,
    Description,
    Provider,
    Model,
    Thinking,
    Tools,
    NoTools,
    ExcludeTools,
    Extensions,
    NoExtensions,
    SuggestedSkills,
    LoadSkills,
    NoSkills,
    NoContextFiles,
    AppendSystemPrompt,
    ApiKey,
    ExtraArgs,
    Runner,
    Timeout,
    Finalize,
    Body,
}

/// A text that is shown to nobody: printing it shows a mask.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Secrets below this length show nothing of themselves.
const SHORTEST_SHOWN_SECRET: usize = 12;

impl Definition {
    /// A definition that says nothing but its name.
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
            timeout: None,
            finalize: dialect.finalizes(),
        }
    }

    /// The key a field has in this definition's file, or would have.
    pub fn key(&self, field: Field) -> &'static str {
        self.origins
            .get(&field)
            .map_or_else(|| field.key(self.dialect), |origin| origin.key)
    }

    /// Whether it says which tools there are.
    pub fn restricts_tools(&self) -> bool {
        let excludes = self
            .exclude_tools
            .as_ref()
            .is_some_and(|names| !names.is_empty());
        self.no_tools || self.tools.is_some() || excludes
    }
}

impl Dialect {
    /// All dialects, in the order they are preferred when nobody has a preference.
    pub const ALL: [Self; 3] = [Self::Profile, Self::Preset, Self::Prompt];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Preset => "preset",
            Self::Prompt => "prompt",
        }
    }

    /// The word for it at the beginning of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Profile => "Profile",
            Self::Preset => "Preset",
            Self::Prompt => "Prompt",
        }
    }

    /// What becomes of the text under the frontmatter.
    pub fn body_use(self) -> BodyUse {
        match self {
            Self::Profile | Self::Prompt => BodyUse::Replace,
            Self::Preset => BodyUse::Append,
        }
    }

    /// Whether a run ends with a report unless the file says otherwise.
    pub fn finalizes(self) -> bool {
        match self {
            Self::Profile | Self::Preset => false,
            Self::Prompt => true,
        }
    }
}

impl Scope {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}

impl RunnerChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Pi, Self::Embedded];

    /// Reads the word for a choice.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Pi => "pi",
            Self::Embedded => "embedded",
        }
    }
}

impl Field {
    /// All fields, in the order people read them.
    pub const ALL: [Self; 21] = [
        Self::Name,
        Self::Description,
        Self::Provider,
        Self::Model,
        Self::Thinking,
        Self::Tools,
        Self::NoTools,
        Self::ExcludeTools,
        Self::Extensions,
        Self::NoExtensions,
        Self::SuggestedSkills,
        Self::LoadSkills,
        Self::NoSkills,
        Self::NoContextFiles,
        Self::AppendSystemPrompt,
        Self::ApiKey,
        Self::ExtraArgs,
        Self::Runner,
        Self::Timeout,
        Self::Finalize,
        Self::Body,
    ];

    /// The key a dialect's files use for it.
    pub fn key(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Self::Tools, Dialect::Prompt) => "approved_tools",
            (Self::ExcludeTools, Dialect::Prompt) => "denied_tools",
            (Self::Name, _) => "name",
            (Self::Description, _) => "description",
            (Self::Provider, _) => "provider",
            (Self::Model, _) => "model",
            (Self::Thinking, _) => "thinkingLevel",
            (Self::Tools, _) => "tools",
            (Self::NoTools, _) => "noTools",
            (Self::ExcludeTools, _) => "excludeTools",
            (Self::Extensions, _) => "extensions",
            (Self::NoExtensions, _) => "noExtensions",
            (Self::SuggestedSkills, _) => "suggestedSkills",
            (Self::LoadSkills, _) => "loadSkills",
            (Self::NoSkills, _) => "noSkills",
            (Self::NoContextFiles, _) => "noContextFiles",
            (Self::AppendSystemPrompt, _) => "appendSystemPrompt",
            (Self::ApiKey, _) => "apiKey",
            (Self::ExtraArgs, _) => "extraArgs",
            (Self::Runner, _) => "runner",
            (Self::Timeout, _) => "timeout",
            (Self::Finalize, _) => "finalize",
            (Self::Body, _) => "body",
        }
    }
}

impl Secret {
    /// Keeps a text from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for whoever must use it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let characters: Vec<char> = self.0.chars().collect();
        if characters.len() < SHORTEST_SHOWN_SECRET {
            return formatter.write_str("****");
        }
        let first: String = characters[..4].iter().collect();
        let last: String = characters[characters.len() - 4..].iter().collect();
        write!(formatter, "{first}****{last}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_its_ends_at_most() {
        let shown = ["sk-test-abc123", "sk-12345678", "", "ключ-к-серверу-1"]
            .map(|text| Secret::new(text).to_string());
        assert_eq!(shown, ["sk-t****c123", "****", "****", "ключ****ру-1"]);
        let debugged = format!("{:?}", Secret::new("sk-proj-abc123def456ghi789"));
        assert_eq!(debugged, "Secret(sk-p****i789)");
    }

    #[test]
    fn every_field_has_a_key_of_its_own_in_every_dialect() {
        for dialect in Dialect::ALL {
            let keys: std::collections::BTreeSet<_> =
                Field::ALL.iter().map(|field| field.key(dialect)).collect();
            assert_eq!(keys.len(), Field::ALL.len());
        }
    }
}
