//! A named agent as a user wrote it down, whatever the format of the file was.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Field, Origin, Secret, ThinkingLevel};

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
