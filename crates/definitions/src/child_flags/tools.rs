//! Which tools a child has.

use pi_subagents_delegation::{Definition, Dialect, ToolPolicy};

use crate::validation::Invalid;

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
                &without_ours(parents),
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

/// Leaves out our own tools, also where pi has them from our MCP server (`mcp__SERVER__TOOL`).
fn without_ours(names: &[String]) -> Vec<String> {
    let is_ours = |name: &str| {
        let of_server = name
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"));
        OUR_TOOLS.contains(&of_server.map_or(name, |(_, tool)| tool))
    };
    let kept = names.iter().filter(|name| !is_ours(name));
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
