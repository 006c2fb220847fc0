//! The steps that choose between "none", "these" and "all but these": tools, extensions, skills.

use std::fmt;

use pi_subagents_pi_files::BUILT_IN_TOOLS;
use pi_subagents_vocabulary::{Definition, Field};

use super::field::{Wish, on_enter, wish};
use crate::ask::{DialogEnd, Person};
use crate::fields;
use crate::flags::names;

const OTHERS: &str = "Others: type their names";

#[derive(Debug, Clone, Copy)]
enum Tools {
    Disable,
    Allow,
    Exclude,
}

#[derive(Debug, Clone, Copy)]
enum Extensions {
    Disable,
    Load,
}

impl fmt::Display for Tools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Disable => "Disable all tools",
            Self::Allow => "Allowlist: only the tools you name",
            Self::Exclude => "Blacklist: all tools except those you name",
        })
    }
}

impl fmt::Display for Extensions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Disable => "Disable all extensions",
            Self::Load => "Load the extensions you name",
        })
    }
}

pub(super) fn tools(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    const FIELDS: [Field; 3] = [Field::NoTools, Field::Tools, Field::ExcludeTools];
    if !wants_new(person, step, "Configure tools?", definition, &FIELDS)? {
        return Ok(());
    }
    let options = vec![Tools::Disable, Tools::Allow, Tools::Exclude];
    let Some(choice) = person.choice(&format!("{step} Tools:"), options, 0)? else {
        return Ok(());
    };
    match choice {
        Tools::Disable => {
            clear(definition, &FIELDS);
            definition.no_tools = true;
        }
        Tools::Allow => {
            let current = definition.tools.clone().unwrap_or_default();
            if let Some(names) = ask_tools(person, step, "Allowed tools", &current)? {
                clear(definition, &FIELDS);
                definition.tools = Some(names);
            }
        }
        Tools::Exclude => {
            let current = definition.exclude_tools.clone().unwrap_or_default();
            if let Some(names) = ask_tools(person, step, "Excluded tools", &current)? {
                clear(definition, &FIELDS);
                definition.exclude_tools = Some(names);
            }
        }
    }
    Ok(())
}

pub(super) fn extensions(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    const FIELDS: [Field; 2] = [Field::NoExtensions, Field::Extensions];
    if !wants_new(person, step, "Configure extensions?", definition, &FIELDS)? {
        return Ok(());
    }
    let options = vec![Extensions::Disable, Extensions::Load];
    match person.choice(&format!("{step} Extensions:"), options, 0)? {
        None => {}
        Some(Extensions::Disable) => {
            clear(definition, &FIELDS);
            definition.no_extensions = true;
        }
        Some(Extensions::Load) => {
            let current = definition.extensions.clone();
            if let Some(paths) = ask_names(person, step, "Extension paths", &current)? {
                clear(definition, &FIELDS);
                definition.extensions = paths;
            }
        }
    }
    Ok(())
}

pub(super) fn skills(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    const FIELDS: [Field; 3] = [Field::NoSkills, Field::SuggestedSkills, Field::LoadSkills];
    if !wants_new(person, step, "Configure skills?", definition, &FIELDS)? {
        return Ok(());
    }
    let suggested = ask_names(
        person,
        step,
        "Suggested skills",
        &definition.suggested_skills,
    )?;
    let loaded = ask_names(person, step, "Pre-loaded skills", &definition.load_skills)?;
    if suggested.is_some() || loaded.is_some() {
        definition.no_skills = false;
    }
    if let Some(names) = suggested {
        definition.suggested_skills = names;
    }
    if let Some(names) = loaded {
        definition.load_skills = names;
    }
    Ok(())
}

/// Asks for the wish about a group of fields, and removes them if that is the wish.
fn wants_new(
    person: &dyn Person,
    step: &str,
    question: &str,
    definition: &mut Definition,
    group: &[Field],
) -> Result<bool, DialogEnd> {
    let set: Vec<String> = group
        .iter()
        .filter_map(|field| {
            let text = fields::text(definition, *field)?;
            Some(format!("{}: {text}", definition.key(*field)))
        })
        .collect();
    let current = (!set.is_empty()).then(|| set.join("; "));
    Ok(match wish(person, step, question, current.as_deref())? {
        Wish::Keep => false,
        Wish::Set => true,
        Wish::Remove => {
            clear(definition, group);
            false
        }
    })
}

fn clear(definition: &mut Definition, group: &[Field]) {
    for field in group {
        definition.unset(*field);
    }
}

/// Lets the person choose among the tools that every child has, and type the names of others.
fn ask_tools(
    person: &dyn Person,
    step: &str,
    noun: &str,
    current: &[String],
) -> Result<Option<Vec<String>>, DialogEnd> {
    let mut known: Vec<String> = BUILT_IN_TOOLS.map(str::to_owned).into();
    let others = current
        .iter()
        .filter(|name| !BUILT_IN_TOOLS.contains(&name.as_str()));
    known.extend(others.cloned());
    let is_current = |place: &usize| current.contains(&known[*place]);
    let chosen: Vec<usize> = (0..known.len()).filter(is_current).collect();
    let mut options = known.clone();
    options.push(OTHERS.to_owned());
    let Some(places) = person.several(&format!("{step} {noun}:"), &options, &chosen)? else {
        return Ok(None);
    };
    let mut names: Vec<String> = places
        .iter()
        .filter_map(|place| known.get(*place).cloned())
        .collect();
    if places.contains(&known.len()) {
        let typed = ask_names(person, step, &format!("{noun}, others"), &[])?;
        names.extend(typed.unwrap_or_default());
    }
    Ok((!names.is_empty()).then_some(names))
}

fn ask_names(
    person: &dyn Person,
    step: &str,
    noun: &str,
    current: &[String],
) -> Result<Option<Vec<String>>, DialogEnd> {
    let current = current.join(", ");
    let help = format!("Names separated by commas; {}", on_enter(&current));
    let answer = person.line(&format!("{step} {noun}:"), &current, &help)?;
    Ok(answer
        .map(|text| names(&text))
        .filter(|names| !names.is_empty()))
}
