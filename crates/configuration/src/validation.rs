//! Finds mistakes in a definition before anything runs.

use std::path::{Path, PathBuf};

use pi_subagents_pi_files::written_path;
use pi_subagents_vocabulary::{Definition, Field, text};

mod extra_args;

pub(crate) use extra_args::check as check_extra_args;

/// The reason why a definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// There is an allow list and a deny list.
    #[error(
        "{kind} \"{name}\" has both \"{allowed}\" and \"{denied}\" set. These are mutually exclusive."
    )]
    ToolLists {
        /// The dialect, as a sentence begins.
        kind: &'static str,
        /// The definition.
        name: String,
        /// The key of the allow list.
        allowed: &'static str,
        /// The key of the deny list.
        denied: &'static str,
    },
    /// Skills are suggested and forbidden.
    #[error(
        "{kind} \"{name}\" has both \"suggestedSkills\" and \"noSkills\" set. These are mutually exclusive — --no-skills would override --skill flags."
    )]
    SuggestedSkills {
        /// The dialect, as a sentence begins.
        kind: &'static str,
        /// The definition.
        name: String,
    },
    /// Skills are loaded and forbidden.
    #[error(
        "{kind} \"{name}\" has both \"loadSkills\" and \"noSkills\" set. These are mutually exclusive — --no-skills disables skill discovery."
    )]
    LoadedSkills {
        /// The dialect, as a sentence begins.
        kind: &'static str,
        /// The definition.
        name: String,
    },
    /// A list of tools holds a pattern.
    #[error(
        "{title} names the tool \"{tool}\", which is not a plain name: newer versions of pi read it as a pattern. Name each tool."
    )]
    ToolPattern {
        /// The dialect and name of the definition.
        title: String,
        /// The entry of the list.
        tool: String,
    },
    /// The allow list has only names that no tool has.
    #[error("{kind} \"{name}\" allows only unknown tools: {unknown}. Available tools: {available}")]
    UnknownTools {
        /// The dialect, as a sentence begins.
        kind: &'static str,
        /// The definition.
        name: String,
        /// The names of the list.
        unknown: String,
        /// The tools there are.
        available: String,
    },
    /// An argument holds a null byte.
    #[error("Invalid extraArg: contains null byte")]
    NullByte,
    /// An argument looks like shell syntax.
    #[error("Refusing extraArg: potentially unsafe argument '{0}...'")]
    UnsafeArgument(String),
    /// An argument would lift the restriction of tools.
    #[error(
        "Refusing extraArg \"{0}\" which would override profile tool restrictions. Use the dedicated profile fields instead."
    )]
    ToolArgument(String),
    /// An argument is the engine's business.
    #[error("Refusing extraArg \"{0}\": it is set by the engine.")]
    EngineArgument(String),
    /// An argument would be read as a file.
    #[error("Refusing extraArg \"{0}\": a file is given with the task.")]
    FileArgument(String),
    /// An extension is not there.
    #[error("Extension not found: {}", .0.display())]
    MissingExtension(PathBuf),
    /// An agent of others does not know a field.
    #[error(
        "{title} sets {field}, which {agent} does not know. Leave it out, or use \"runner: embedded\"."
    )]
    NotForOtherAgent {
        /// The dialect and name of the definition.
        title: String,
        /// The key.
        field: &'static str,
        /// The agent.
        agent: &'static str,
    },
    /// A command is named for a child of ours.
    #[error(
        "{title} sets command, which names the program of an agent of others. Add \"runner: acp\", or leave command out."
    )]
    CommandNeedsAgent {
        /// The dialect and name of the definition.
        title: String,
    },
    /// A pi child has only the servers of its user.
    #[error(
        "{title} has mcpServers, which pi cannot take: pi uses only the servers of its mcp.json. Use \"runner: embedded\"."
    )]
    ServersNeedEmbedded {
        /// The dialect and name of the definition.
        title: String,
    },
    /// The embedded agent has no extensions.
    #[error("{title} loads extensions, which need the real pi. Use \"runner: pi\".")]
    NeedsPi {
        /// The dialect and name of the definition.
        title: String,
    },
}

impl Invalid {
    /// Returns whether this fails the whole call, not just the task that uses the definition.
    pub fn fails_the_call(&self) -> bool {
        match self {
            Self::ToolLists { .. } | Self::SuggestedSkills { .. } | Self::LoadedSkills { .. } => {
                true
            }
            Self::ToolPattern { .. }
            | Self::UnknownTools { .. }
            | Self::NullByte
            | Self::UnsafeArgument(_)
            | Self::ToolArgument(_)
            | Self::EngineArgument(_)
            | Self::FileArgument(_)
            | Self::MissingExtension(_)
            | Self::NotForOtherAgent { .. }
            | Self::CommandNeedsAgent { .. }
            | Self::ServersNeedEmbedded { .. }
            | Self::NeedsPi { .. } => false,
        }
    }
}

/// Checks a definition by itself. Returns its first problem; the problems that fail a call come
/// first.
pub fn validate(definition: &Definition) -> Result<(), Invalid> {
    problems(definition).into_iter().next().map_or(Ok(()), Err)
}

/// Returns everything that is wrong with a definition by itself.
pub(crate) fn problems(definition: &Definition) -> Vec<Invalid> {
    let (kind, name) = (definition.dialect.title(), definition.name.clone());
    let mut problems = Vec::new();
    if !definition.no_tools && definition.tools.is_some() && definition.exclude_tools.is_some() {
        problems.push(Invalid::ToolLists {
            kind,
            name: name.clone(),
            allowed: definition.key(Field::Tools),
            denied: definition.key(Field::ExcludeTools),
        });
    }
    if definition.no_skills && !definition.suggested_skills.is_empty() {
        problems.push(Invalid::SuggestedSkills {
            kind,
            name: name.clone(),
        });
    }
    if definition.no_skills && !definition.load_skills.is_empty() {
        problems.push(Invalid::LoadedSkills { kind, name });
    }
    problems.extend(tool_patterns(definition));
    problems.extend(
        definition
            .extra_args
            .iter()
            .filter_map(|argument| check_extra_args(argument, definition.restricts_tools()).err()),
    );
    problems
}

/// Finds entries in the lists of tools that are no names of tools.
fn tool_patterns(definition: &Definition) -> impl Iterator<Item = Invalid> {
    let counts = !definition.no_tools;
    let lists = [&definition.tools, &definition.exclude_tools];
    let names = lists.into_iter().flatten().flatten();
    names
        .filter(move |name| counts && !is_tool_name(name))
        .map(|name| Invalid::ToolPattern {
            title: format!("{} \"{}\"", definition.dialect.title(), definition.name),
            tool: text::clean(name),
        })
}

/// Returns whether a text can be the name of one tool, and nothing more.
fn is_tool_name(name: &str) -> bool {
    let begins_well = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/".contains(letter);
    begins_well && name.chars().all(is_allowed)
}

/// Looks whether the extensions of a definition are there; a package is not looked for.
pub fn check_paths(definition: &Definition, cwd: &Path, home: &Path) -> Result<(), Invalid> {
    for extension in &definition.extensions {
        if is_package(extension) {
            continue;
        }
        let path = written_path(extension, cwd, home);
        if !path.exists() {
            return Err(Invalid::MissingExtension(path));
        }
    }
    Ok(())
}

fn is_package(extension: &str) -> bool {
    const SCHEMES: [&str; 5] = ["npm:", "git:", "https://", "http://", "ssh://"];
    SCHEMES.iter().any(|scheme| extension.starts_with(scheme))
}
