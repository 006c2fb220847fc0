//! Explains where each field of a definition comes from.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{
    Definition, Dialect, Field, Runner, RunnerChoice, Scope, TranslationNote,
};

use crate::asker::Asker;
use crate::catalogue::{Catalogue, Ignored, UnknownDefinition};
use crate::child_flags::{PlanPatch, ToolFacts, tools_of};
use crate::skills::Skills;
use crate::validation::problems;

/// A definition, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The name.
    pub name: String,
    /// The format of the file.
    pub dialect: Dialect,
    /// The scope of the definition.
    pub scope: Scope,
    /// The file.
    pub file: PathBuf,
    /// Every field that is set, in reading order.
    pub rows: Vec<Row>,
    /// What became of the file, if it is that of another tool.
    pub notes: Vec<TranslationNote>,
    /// Files of the same name that do not count, the strongest first.
    pub shadowed: Vec<PathBuf>,
    /// Files of the same name that must not be used.
    pub ignored: Vec<(PathBuf, Ignored)>,
    /// Warnings about the files of the definition.
    pub warnings: Vec<String>,
    /// The reasons why it cannot be used.
    pub problems: Vec<String>,
    /// The arguments each kind of child is started with, or why it is not.
    pub children: Vec<(Runner, Result<Vec<String>, String>)>,
}

/// A field of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The key, as it is written.
    pub key: &'static str,
    /// The value, with keys masked; empty if the value in the file means none.
    pub value: String,
    /// The value in the file of another tool, if it is not the same.
    pub written: Option<String>,
    /// The line of the file, if it was written and is no default.
    pub line: Option<u32>,
    /// The values that would count without this file.
    pub shadows: Vec<ShadowedValue>,
}

/// A value that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedValue {
    /// The file that has the value.
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
        .filter(|(ignored, _)| ignored.is_called(name));
    Ok(Explanation {
        rows: rows(definition, &found.shadowed),
        warnings: of_these
            .map(ToString::to_string)
            .chain(tool_doubts(definition))
            .collect(),
        ignored: ignored
            .map(|(definition, reason)| (definition.file.clone(), reason.clone()))
            .collect(),
        shadowed: files.into_iter().map(Path::to_owned).collect(),
        ..Explanation::of(definition, skills)
    })
}

impl Explanation {
    /// Explains a definition by itself.
    pub fn of(definition: &Definition, skills: &Skills) -> Self {
        Self {
            name: definition.name.clone(),
            dialect: definition.dialect,
            scope: definition.scope,
            file: definition.file.clone(),
            rows: rows(definition, &[]),
            notes: definition
                .translation
                .as_ref()
                .map_or(Vec::new(), |translation| translation.notes.clone()),
            warnings: tool_doubts(definition),
            ignored: Vec::new(),
            problems: problems(definition)
                .iter()
                .map(ToString::to_string)
                .collect(),
            children: runners(definition)
                .into_iter()
                .map(|runner| (runner, arguments(definition, skills, runner)))
                .collect(),
            shadowed: Vec::new(),
        }
    }
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
                value: hidden.value(field)?.to_string(),
            })
        });
        hidden.collect()
    };
    let written = |field: Field| {
        let translation = definition.translation.as_ref()?;
        translation.written.get(&field).cloned()
    };
    Field::of_file()
        .filter_map(|field| {
            let value = definition.value(field).map(|value| value.to_string());
            let written = written(field);
            if value.is_none() && written.is_none() {
                return None;
            }
            Some(Row {
                key: definition.key(field),
                value: value.unwrap_or_default(),
                written,
                line: line(definition, field),
                shadows: shadows(field),
            })
        })
        .collect()
}

/// Returns warnings about the lists of tools. A name that only the embedded agent does not know may
/// be that of an extension of pi.
fn tool_doubts(definition: &Definition) -> Vec<String> {
    let of = |runner| {
        let surroundings = ToolFacts {
            runner,
            parent: None,
        };
        tools_of(definition, &surroundings).map_or(Vec::new(), |given| given.warnings)
    };
    let [usual, others @ ..] = Runner::OWN;
    let mut doubts = of(usual);
    for runner in others {
        let new = of(runner)
            .into_iter()
            .filter(|doubt| !doubts.contains(doubt));
        let new: Vec<String> = new
            .map(|doubt| format!("{}: {doubt}", runner.as_str()))
            .collect();
        doubts.extend(new);
    }
    doubts
}

/// Returns the kinds of child that can do its work: the one that it names, if that is an agent of
/// others, else both of ours.
fn runners(definition: &Definition) -> Vec<Runner> {
    let named = definition.runner.map(RunnerChoice::usual);
    match named.filter(|runner| runner.other_agent().is_some()) {
        Some(other) => vec![other],
        None => Runner::OWN.into(),
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
    let surroundings = ToolFacts {
        runner,
        parent: None,
    };
    let patch =
        PlanPatch::of(definition, &skills, &surroundings).map_err(|invalid| invalid.to_string())?;
    patch
        .check_runner(runner)
        .map_err(|invalid| invalid.to_string())?;
    Ok(patch.shown_arguments(Path::new("RUN")))
}
