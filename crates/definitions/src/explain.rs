//! Where everything a definition says comes from.

use std::path::{Path, PathBuf};

use pi_subagents_delegation::{Definition, Dialect, Field, Runner, Scope};

use crate::catalogue::{Asker, Catalogue, Ignored, UnknownDefinition};
use crate::child_flags::{PlanPatch, Surroundings};
use crate::skills::Skills;
use crate::validation::problems;

/// A definition, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The name.
    pub name: String,
    /// The format of the file.
    pub dialect: Dialect,
    /// Whose it is.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
    /// Every field that is set, in reading order.
    pub rows: Vec<Row>,
    /// Files of the same name that do not count, the strongest first.
    pub shadowed: Vec<PathBuf>,
    /// Files of the same name that must not be used.
    pub ignored: Vec<(PathBuf, Ignored)>,
    /// What is odd about the files.
    pub warnings: Vec<String>,
    /// Why it cannot be used.
    pub problems: Vec<String>,
    /// The arguments each kind of child is started with, or why it is not.
    pub children: Vec<(Runner, Result<Vec<String>, String>)>,
}

/// A field of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The key, as it is written.
    pub key: &'static str,
    /// The value, with keys masked.
    pub value: String,
    /// The line of the file, if it was written and is no default.
    pub line: Option<u32>,
    /// What it would be without this file.
    pub shadows: Vec<ShadowedValue>,
}

/// A value that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedValue {
    /// The file that says it.
    pub file: PathBuf,
    /// The line.
    pub line: Option<u32>,
    /// The value, with keys masked.
    pub value: String,
}

/// Explains the definition that counts for an asker.
pub fn explain(
    catalogue: &Catalogue,
    name: &str,
    asker: Asker,
    skills: &Skills,
) -> Result<Explanation, UnknownDefinition> {
    let found = catalogue.find(name, asker)?;
    let definition = found.definition;
    let files: Vec<&Path> = found
        .shadowed
        .iter()
        .map(|shadowed| shadowed.file.as_path())
        .collect();
    let of_these = catalogue.warnings().iter().filter(|warning| {
        warning.file == definition.file || files.contains(&warning.file.as_path())
    });
    let ignored = catalogue
        .ignored()
        .filter(|(ignored, _)| ignored.name == name);
    Ok(Explanation {
        name: definition.name.clone(),
        dialect: definition.dialect,
        scope: definition.scope,
        file: definition.file.clone(),
        rows: rows(definition, &found.shadowed),
        warnings: of_these.map(ToString::to_string).collect(),
        ignored: ignored
            .map(|(definition, reason)| (definition.file.clone(), reason.clone()))
            .collect(),
        problems: problems(definition)
            .iter()
            .map(ToString::to_string)
            .collect(),
        children: [Runner::Pi, Runner::Embedded]
            .map(|runner| (runner, arguments(definition, skills, runner)))
            .into(),
        shadowed: files.into_iter().map(Path::to_owned).collect(),
    })
}

fn rows(definition: &Definition, shadowed: &[&Definition]) -> Vec<Row> {
    let line =
        |definition: &Definition, field| definition.origins.get(&field).map(|origin| origin.line);
    let shadows = |field: Field| {
        // That all have the same name is why they are here.
        let others = if field == Field::Name { &[] } else { shadowed };
        let hidden = others.iter().filter_map(|hidden| {
            Some(ShadowedValue {
                file: hidden.file.clone(),
                line: line(hidden, field),
                value: value(hidden, field)?,
            })
        });
        hidden.collect()
    };
    Field::ALL
        .into_iter()
        .filter_map(|field| {
            Some(Row {
                key: definition.key(field),
                value: value(definition, field)?,
                line: line(definition, field),
                shadows: shadows(field),
            })
        })
        .collect()
}

/// A field as people read it, if it is set.
fn value(definition: &Definition, field: Field) -> Option<String> {
    let switch = |is_on: bool| is_on.then(|| "true".to_owned());
    let list = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
    match field {
        Field::Name => Some(definition.name.clone()),
        Field::Description => definition.description.clone(),
        Field::Provider => definition.provider.clone(),
        Field::Model => definition.model.clone(),
        Field::Thinking => definition.thinking.map(|level| level.as_str().to_owned()),
        Field::Tools => definition.tools.as_ref().map(|names| names.join(", ")),
        Field::NoTools => switch(definition.no_tools),
        Field::ExcludeTools => definition
            .exclude_tools
            .as_ref()
            .map(|names| names.join(", ")),
        Field::Extensions => list(&definition.extensions),
        Field::NoExtensions => switch(definition.no_extensions),
        Field::SuggestedSkills => list(&definition.suggested_skills),
        Field::LoadSkills => list(&definition.load_skills),
        Field::NoSkills => switch(definition.no_skills),
        Field::NoContextFiles => switch(definition.no_context_files),
        Field::AppendSystemPrompt => definition.append_system_prompt.clone(),
        Field::ApiKey => definition.api_key.as_ref().map(ToString::to_string),
        Field::ExtraArgs => list(&definition.extra_args),
        Field::Runner => definition.runner.map(|runner| runner.as_str().to_owned()),
        Field::Timeout => definition
            .timeout
            .map(|time| format!("{}s", time.as_secs_f64())),
        Field::Finalize => {
            let says_so = definition.origins.contains_key(&Field::Finalize);
            (says_so || definition.finalize).then(|| definition.finalize.to_string())
        }
        Field::Body => definition.body.clone(),
    }
}

fn arguments(
    definition: &Definition,
    skills: &Skills,
    runner: Runner,
) -> Result<Vec<String>, String> {
    let skills = skills
        .resolve(definition)
        .map_err(|error| error.to_string())?;
    let patch = PlanPatch::of(definition, &skills, &Surroundings::default())
        .map_err(|invalid| invalid.to_string())?;
    patch
        .check_runner(runner)
        .map_err(|invalid| invalid.to_string())?;
    Ok(patch.shown_arguments(Path::new("RUN")))
}
