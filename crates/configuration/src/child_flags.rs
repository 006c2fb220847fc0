//! Applies a definition to a run. Pure.

mod shown;
mod tools;

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{
    BodyUse, Definition, Field, FieldValue, ModelChoice, Runner, SystemPrompt, ToolPolicy,
};

pub use tools::{GivenTools, ParentTools, Surroundings, tools_of};

use crate::skills::ResolvedSkills;
use crate::validation::{Invalid, validate};

/// The changes that a definition makes in the plan of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanPatch {
    /// The definition, as sentences name it.
    pub title: String,
    /// The definition itself: most of its fields hold as they were written.
    pub definition: Definition,
    /// The model that answers.
    pub model: ModelChoice,
    /// The text that replaces the child's system prompt.
    pub system_prompt: Option<String>,
    /// The text that follows it.
    pub append_system_prompt: Option<String>,
    /// The tools that the child has.
    pub tools: ToolPolicy,
    /// Files of skills that are offered.
    pub skills: Vec<PathBuf>,
    /// The file with the schema that the result must meet.
    pub output_schema_file: Option<PathBuf>,
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
            skills: skills.suggested.clone(),
            output_schema_file: definition.output_schema_file.as_ref().map(|file| {
                let folder = definition.file.parent().unwrap_or(Path::new("/"));
                folder.join(file)
            }),
            definition: definition.clone(),
            warnings: given.warnings,
        })
    }

    /// Checks whether a kind of child can do this.
    pub fn check_runner(&self, runner: Runner) -> Result<(), Invalid> {
        match runner {
            Runner::Embedded if !self.definition.extensions.is_empty() => Err(Invalid::NeedsPi {
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

    /// Returns the arguments that no field of a plan stands for: those that the table of fields
    /// names, switches first, then the skills and the definition's own.
    pub fn further_arguments(&self) -> Vec<String> {
        let named = Field::of_frontmatter().filter_map(|field| {
            let argument = field.row().argument?;
            Some((argument, self.definition.value(field)?))
        });
        let (mut switches, mut others) = (Vec::new(), Vec::new());
        for (argument, value) in named {
            match value {
                FieldValue::Switch(true) => switches.push(argument.to_owned()),
                FieldValue::Names(values) | FieldValue::Texts(values) => {
                    let pairs = values
                        .iter()
                        .map(|value| [argument.to_owned(), value.clone()]);
                    others.extend(pairs.flatten());
                }
                // A secret never becomes an argument: every process can read those.
                FieldValue::Switch(false) | FieldValue::Secret(_) => {}
                FieldValue::Text(_)
                | FieldValue::Time(_)
                | FieldValue::Gates(_)
                | FieldValue::Json(_) => others.extend([argument.to_owned(), value.to_string()]),
            }
        }
        let skills = self.skills.iter();
        let skills = skills.flat_map(|file| ["--skill".to_owned(), file.display().to_string()]);
        let own = self.definition.extra_args.iter().cloned();
        let arguments = switches.into_iter().chain(others);
        arguments.chain(skills).chain(own).collect()
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
