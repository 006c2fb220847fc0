//! Applies a definition to a run. Pure.

mod flag_texts;
mod servers;
mod tools;

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{
    BodyUse, Definition, Field, FieldValue, McpServers, ModelChoice, PromptTexts, Runner,
    ToolPolicy,
};

use servers::servers_of;
pub use tools::{GivenTools, ParentTools, ToolFacts, tools_of};

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
    /// The texts of the child's system prompt.
    pub system_prompt: PromptTexts,
    /// The tools that the child has.
    pub tools: ToolPolicy,
    /// The MCP servers that the child has.
    pub mcp_servers: McpServers,
    /// Files of skills that are offered.
    pub skills: Vec<PathBuf>,
    /// The file with the schema that the result must meet.
    pub output_schema_file: Option<PathBuf>,
    /// The warnings for the author of the definition. They are shown whenever it is used.
    pub warnings: Vec<String>,
}

impl PlanPatch {
    /// Works out the effect of a definition on a run, or why the definition cannot be used.
    pub fn of(
        definition: &Definition,
        skills: &ResolvedSkills,
        surroundings: &ToolFacts<'_>,
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
            system_prompt: PromptTexts {
                replace: system_prompt,
                append: joined(appended),
            },
            mcp_servers: servers_of(definition, &given.policy),
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
        let title = self.title.clone();
        match runner.other_agent() {
            Some(agent) => match self.not_for_others().next() {
                Some(field) => Err(Invalid::NotForOtherAgent {
                    title,
                    field: self.definition.key(field),
                    agent: agent.title(),
                }),
                None => Ok(()),
            },
            None if !self.definition.command.is_empty() => {
                Err(Invalid::CommandNeedsAgent { title })
            }
            None if runner.loads_extensions() && !self.mcp_servers.is_empty() => {
                Err(Invalid::ServersNeedEmbedded { title })
            }
            None if runner.loads_extensions() || self.definition.extensions.is_empty() => Ok(()),
            None => Err(Invalid::NeedsPi { title }),
        }
    }

    /// Returns the fields of the definition that an agent of others cannot have.
    fn not_for_others(&self) -> impl Iterator<Item = Field> {
        const FIELDS: [Field; 9] = [
            Field::Provider,
            Field::FallbackModels,
            Field::Extensions,
            Field::NoExtensions,
            Field::SuggestedSkills,
            Field::NoSkills,
            Field::NoContextFiles,
            Field::ApiKey,
            Field::ExtraArgs,
        ];
        let fields = FIELDS.into_iter().chain([Field::Commands]);
        fields.filter(|field| self.definition.value(*field).is_some())
    }

    /// Returns the arguments that no field of a plan stands for: those that the table of fields
    /// names, switches first, then the definition's own. The files of its skills are not among them:
    /// they belong to one machine.
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
                | FieldValue::Count(_)
                | FieldValue::Gates(_)
                | FieldValue::Servers(_)
                | FieldValue::Json(_) => others.extend([argument.to_owned(), value.to_string()]),
            }
        }
        let own = self.definition.extra_args.iter().cloned();
        let arguments = switches.into_iter().chain(others);
        arguments.chain(own).collect()
    }

    /// Returns all arguments that this definition leads to, for people to read.
    pub fn shown_arguments(&self, directory: &Path) -> Vec<String> {
        let policy = self.system_prompt.files(directory).policy;
        let mut arguments = flag_texts::model(&self.model);
        arguments.extend(flag_texts::prompt(&policy));
        arguments.extend(flag_texts::tools(&self.tools));
        arguments.extend(self.further_arguments());
        arguments.extend(skill_arguments(&self.skills));
        arguments
    }
}

/// Returns the arguments that offer the skills in these files to a child.
pub fn skill_arguments(files: &[PathBuf]) -> impl Iterator<Item = String> {
    let files = files.iter();
    files.flat_map(|file| ["--skill".to_owned(), file.display().to_string()])
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
