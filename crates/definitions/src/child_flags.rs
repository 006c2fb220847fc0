//! What a definition means for a run. Pure.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_delegation::{
    BodyUse, Definition, Dialect, ModelChoice, Runner, RunnerChoice, Secret, SystemPrompt,
    ToolPolicy,
};

use crate::skills::ResolvedSkills;
use crate::validation::{Invalid, validate};

/// The tool by which a child reports its result.
const FINALIZE: &str = "subagent_finalize";

/// The tools of the caller that no child has.
const OUR_TOOLS: [&str; 8] = [
    "delegate_to_subagents",
    "get_subagent_output",
    "get_subagent_session",
    "list_subagent_profiles",
    "subagent",
    "background_agent",
    "background_agent_status",
    FINALIZE,
];

/// What is known about tools where a child is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The active tools of the pi that asks, if one does.
    pub parent_tools: Option<&'a [String]>,
    /// All tools a child can have, if that is known.
    pub known_tools: Option<&'a [String]>,
}

/// What a definition changes in the plan of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag of the child that is given or not"
)]
pub struct PlanPatch {
    /// The definition, as sentences name it.
    pub title: String,
    /// Which model answers.
    pub model: ModelChoice,
    /// The text that replaces the child's system prompt.
    pub system_prompt: Option<String>,
    /// The text that follows it.
    pub append_system_prompt: Option<String>,
    /// Which tools the child has.
    pub tools: ToolPolicy,
    /// No extension but those named is loaded.
    pub no_extensions: bool,
    /// Extensions that are loaded.
    pub extensions: Vec<String>,
    /// No skill but those named is offered.
    pub no_skills: bool,
    /// Files of skills that are offered.
    pub skills: Vec<PathBuf>,
    /// `AGENTS.md` and the like are left out.
    pub no_context_files: bool,
    /// Further arguments, checked.
    pub extra_args: Vec<String>,
    /// The key of the provider; it travels on a descriptor, never in arguments.
    pub api_key: Option<Secret>,
    /// Which kind of child, if the definition says so.
    pub runner: Option<RunnerChoice>,
    /// How long the run may take, if the definition says so.
    pub timeout: Option<Duration>,
    /// Whether the run must end with a report.
    pub finalize: bool,
}

/// The files that carry a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFiles {
    /// How the plan refers to them.
    pub policy: SystemPrompt,
    /// What must be written where, before the child starts.
    pub files: Vec<(PathBuf, String)>,
}

impl PlanPatch {
    /// What a definition means, or why it cannot be used.
    pub fn of(
        definition: &Definition,
        skills: &ResolvedSkills,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, Invalid> {
        validate(definition)?;
        let (system_prompt, appended_body) = match definition.dialect.body_use() {
            BodyUse::Replace => (definition.body.clone(), None),
            BodyUse::Append => (None, definition.body.clone()),
        };
        let appended = appended_body
            .into_iter()
            .chain(definition.append_system_prompt.clone())
            .chain(skills.loaded.iter().cloned());
        Ok(Self {
            title: format!("{} \"{}\"", definition.dialect.title(), definition.name),
            model: model_of(definition),
            system_prompt,
            append_system_prompt: joined(appended),
            tools: tools_of(definition, surroundings)?,
            no_extensions: definition.no_extensions,
            extensions: definition.extensions.clone(),
            no_skills: definition.no_skills,
            skills: skills.suggested.clone(),
            no_context_files: definition.no_context_files,
            extra_args: definition.extra_args.clone(),
            api_key: definition.api_key.clone(),
            runner: definition.runner,
            timeout: definition.timeout,
            finalize: definition.finalize,
        })
    }

    /// Whether a kind of child can do this.
    pub fn check_runner(&self, runner: Runner) -> Result<(), Invalid> {
        match runner {
            Runner::Embedded if !self.extensions.is_empty() => Err(Invalid::NeedsPi {
                title: self.title.clone(),
            }),
            Runner::Pi | Runner::Embedded => Ok(()),
        }
    }

    /// The files in a run directory that carry the system prompt.
    pub fn prompt_files(&self, directory: &Path) -> PromptFiles {
        let main = directory.join("system-prompt.md");
        let second = directory.join("append-system-prompt.md");
        match (&self.system_prompt, &self.append_system_prompt) {
            (None, None) => PromptFiles {
                policy: SystemPrompt::Inherit,
                files: Vec::new(),
            },
            (None, Some(text)) => PromptFiles {
                policy: SystemPrompt::Append(vec![main.clone()]),
                files: vec![(main, text.clone())],
            },
            (Some(text), None) => PromptFiles {
                policy: SystemPrompt::Replace {
                    file: main.clone(),
                    append: Vec::new(),
                },
                files: vec![(main, text.clone())],
            },
            (Some(text), Some(appended)) => PromptFiles {
                policy: SystemPrompt::Replace {
                    file: main.clone(),
                    append: vec![second.clone()],
                },
                files: vec![(main, text.clone()), (second, appended.clone())],
            },
        }
    }

    /// The arguments for what a plan has no field for: extensions, skills, context files and the
    /// definition's own.
    pub fn further_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.no_extensions {
            arguments.push("--no-extensions".to_owned());
        }
        for extension in &self.extensions {
            arguments.extend(["--extension".to_owned(), extension.clone()]);
        }
        if self.no_skills {
            arguments.push("--no-skills".to_owned());
        }
        for skill in &self.skills {
            arguments.extend(["--skill".to_owned(), skill.display().to_string()]);
        }
        if self.no_context_files {
            arguments.push("--no-context-files".to_owned());
        }
        arguments.extend(self.extra_args.iter().cloned());
        arguments
    }

    /// All arguments this definition leads to, for people to read.
    pub fn shown_arguments(&self, directory: &Path) -> Vec<String> {
        let mut arguments = model_arguments(&self.model);
        arguments.extend(prompt_arguments(&self.prompt_files(directory).policy));
        arguments.extend(tool_arguments(&self.tools));
        arguments.extend(self.further_arguments());
        arguments
    }
}

/// Which tools a definition gives to a child; the report tool is among them if it is needed.
pub fn tools_of(
    definition: &Definition,
    surroundings: &Surroundings<'_>,
) -> Result<ToolPolicy, Invalid> {
    let policy = chosen_tools(definition, surroundings)?;
    if !definition.finalize {
        return Ok(policy);
    }
    Ok(match policy {
        ToolPolicy::Inherit => ToolPolicy::Inherit,
        ToolPolicy::Nothing => ToolPolicy::Only(vec![FINALIZE.to_owned()]),
        ToolPolicy::Only(mut names) => {
            names.retain(|name| name != FINALIZE);
            names.push(FINALIZE.to_owned());
            ToolPolicy::Only(names)
        }
        ToolPolicy::AllExcept(names) => all_except(without(&names, &[FINALIZE])),
    })
}

fn chosen_tools(
    definition: &Definition,
    surroundings: &Surroundings<'_>,
) -> Result<ToolPolicy, Invalid> {
    if definition.no_tools {
        return Ok(ToolPolicy::Nothing);
    }
    match (&definition.tools, &definition.exclude_tools) {
        (Some(names), _) => {
            check_known(definition, names, surroundings.known_tools)?;
            Ok(ToolPolicy::Only(names.clone()))
        }
        (None, Some(denied)) => Ok(match (definition.dialect, surroundings.parent_tools) {
            (Dialect::Prompt, Some(parents)) => only(without(
                &without(parents, &OUR_TOOLS),
                &denied.iter().map(String::as_str).collect::<Vec<_>>(),
            )),
            (Dialect::Profile | Dialect::Preset | Dialect::Prompt, _) => all_except(denied.clone()),
        }),
        (None, None) => Ok(ToolPolicy::Inherit),
    }
}

fn check_known(
    definition: &Definition,
    names: &[String],
    known: Option<&[String]>,
) -> Result<(), Invalid> {
    match known {
        Some(known) if !names.iter().any(|name| known.contains(name)) => {
            Err(Invalid::UnknownTools {
                kind: definition.dialect.title(),
                name: definition.name.clone(),
                unknown: names.join(", "),
                available: known.join(", "),
            })
        }
        Some(_) | None => Ok(()),
    }
}

fn without(names: &[String], taken: &[&str]) -> Vec<String> {
    let kept = names.iter().filter(|name| !taken.contains(&name.as_str()));
    kept.cloned().collect()
}

fn only(names: Vec<String>) -> ToolPolicy {
    if names.is_empty() {
        ToolPolicy::Nothing
    } else {
        ToolPolicy::Only(names)
    }
}

fn all_except(names: Vec<String>) -> ToolPolicy {
    if names.is_empty() {
        ToolPolicy::Inherit
    } else {
        ToolPolicy::AllExcept(names)
    }
}

fn model_of(definition: &Definition) -> ModelChoice {
    let (provider, model) = (definition.provider.clone(), definition.model.clone());
    if provider.is_none() && model.is_none() && definition.thinking.is_none() {
        return ModelChoice::Inherit;
    }
    ModelChoice::Named {
        provider,
        model,
        thinking: definition.thinking,
    }
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn model_arguments(model: &ModelChoice) -> Vec<String> {
    let ModelChoice::Named {
        provider,
        model,
        thinking,
    } = model
    else {
        return Vec::new();
    };
    let thinking = thinking.map(|level| level.as_str().to_owned());
    let flags = [
        ("--provider", provider),
        ("--model", model),
        ("--thinking", &thinking),
    ];
    flags
        .into_iter()
        .filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]))
        .flatten()
        .collect()
}

fn prompt_arguments(policy: &SystemPrompt) -> Vec<String> {
    let (replacing, appended) = match policy {
        SystemPrompt::Inherit => (None, &[][..]),
        SystemPrompt::Append(files) => (None, files.as_slice()),
        SystemPrompt::Replace { file, append } => (Some(file), append.as_slice()),
    };
    let replacing =
        replacing.map(|file| ["--system-prompt".to_owned(), file.display().to_string()]);
    let appended = appended.iter().map(|file| {
        [
            "--append-system-prompt".to_owned(),
            file.display().to_string(),
        ]
    });
    replacing.into_iter().chain(appended).flatten().collect()
}

fn tool_arguments(tools: &ToolPolicy) -> Vec<String> {
    match tools {
        ToolPolicy::Inherit => Vec::new(),
        ToolPolicy::Nothing => vec!["--no-tools".to_owned()],
        ToolPolicy::Only(names) => vec!["--tools".to_owned(), names.join(",")],
        ToolPolicy::AllExcept(names) => vec!["--exclude-tools".to_owned(), names.join(",")],
    }
}
