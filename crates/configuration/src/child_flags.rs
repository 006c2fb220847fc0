//! Applies a definition to a run. Pure.

mod shown;
mod tools;

use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_vocabulary::{
    BodyUse, Definition, Gate, Isolation, ModelChoice, Runner, RunnerChoice, Secret, SystemPrompt,
    ToolPolicy,
};

use serde_json::Value;
pub use tools::{GivenTools, ParentTools, Surroundings, tools_of};

use crate::skills::ResolvedSkills;
use crate::validation::{Invalid, validate};

/// The changes that a definition makes in the plan of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag of the child that is given or not"
)]
pub struct PlanPatch {
    /// The definition, as sentences name it.
    pub title: String,
    /// The model that answers.
    pub model: ModelChoice,
    /// The text that replaces the child's system prompt.
    pub system_prompt: Option<String>,
    /// The text that follows it.
    pub append_system_prompt: Option<String>,
    /// The tools that the child has.
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
    /// The kind of child, if the definition names one.
    pub runner: Option<RunnerChoice>,
    /// The place where the run works, if the definition names one.
    pub isolation: Option<Isolation>,
    /// The time limit of the run, if the definition sets one.
    pub timeout: Option<Duration>,
    /// The commands that must pass before the run counts as completed.
    pub gates: Vec<Gate>,
    /// The schema that the result must meet.
    pub output_schema: Option<Value>,
    /// The file with that schema.
    pub output_schema_file: Option<PathBuf>,
    /// True if the run must end with a report.
    pub finalize: bool,
    /// The warnings for the author of the definition. They are shown whenever it is used.
    pub warnings: Vec<String>,
}

/// The files that carry a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFiles {
    /// The form in which the plan refers to the files.
    pub policy: SystemPrompt,
    /// The files with their contents, which must be written before the child starts.
    pub files: Vec<(PathBuf, String)>,
}

impl PlanPatch {
    /// Works out the effect of a definition on a run, or why the definition cannot be used.
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
        let given = tools_of(definition, surroundings)?;
        let appended = appended_body
            .into_iter()
            .chain(definition.append_system_prompt.clone())
            .chain(skills.loaded.iter().cloned());
        Ok(Self {
            title: format!("{} \"{}\"", definition.dialect.title(), definition.name),
            model: model_of(definition),
            system_prompt,
            append_system_prompt: joined(appended),
            tools: given.policy,
            no_extensions: definition.no_extensions,
            extensions: definition.extensions.clone(),
            no_skills: definition.no_skills,
            skills: skills.suggested.clone(),
            no_context_files: definition.no_context_files,
            extra_args: definition.extra_args.clone(),
            api_key: definition.api_key.clone(),
            runner: definition.runner,
            isolation: definition.isolation,
            timeout: definition.timeout,
            gates: definition.gates.clone(),
            output_schema: definition.output_schema.clone(),
            output_schema_file: definition.output_schema_file.as_ref().map(|file| {
                let folder = definition.file.parent().unwrap_or(Path::new("/"));
                folder.join(file)
            }),
            finalize: definition.finalize,
            warnings: given.warnings,
        })
    }

    /// Checks whether a kind of child can do this.
    pub fn check_runner(&self, runner: Runner) -> Result<(), Invalid> {
        match runner {
            Runner::Embedded if !self.extensions.is_empty() => Err(Invalid::NeedsPi {
                title: self.title.clone(),
            }),
            Runner::Pi | Runner::Embedded => Ok(()),
        }
    }

    /// Returns the files of a run directory that carry the system prompt.
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

    /// Returns the arguments that no field of a plan stands for: extensions, skills, context files
    /// and the definition's own.
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

    /// Returns all arguments that this definition leads to, for people to read.
    pub fn shown_arguments(&self, directory: &Path) -> Vec<String> {
        let policy = self.prompt_files(directory).policy;
        let mut arguments = shown::model(&self.model);
        arguments.extend(shown::prompt(&policy));
        arguments.extend(shown::tools(&self.tools));
        arguments.extend(self.further_arguments());
        arguments
    }
}

/// Returns the model a definition asks for.
pub fn model_of(definition: &Definition) -> ModelChoice {
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
