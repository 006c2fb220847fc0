//! Decides which tools a child has.

use pi_subagents_pi_files::BUILT_IN_TOOLS;
use pi_subagents_vocabulary::{
    Definition, Dialect, FINALIZE_TOOL, Field, McpServer, Runner, ServerTool, ToolPolicy, nearest,
};

use crate::validation::Invalid;

/// The tools of the caller that no child has.
const OUR_TOOLS: [&str; 12] = [
    "delegate_to_subagents",
    "get_subagent_output",
    "get_subagent_session",
    "list_subagent_profiles",
    "subagent",
    "background_agent",
    "background_agent_status",
    "subagent_runs",
    "merge_subagents",
    "review_subagents",
    "answer_subagent",
    FINALIZE_TOOL,
];

/// The facts about tools in the place where a child is started.
#[derive(Debug, Clone, Copy)]
pub struct ToolFacts<'a> {
    /// The kind of child.
    pub runner: Runner,
    /// The tools of the pi that asks, if one does.
    pub parent: Option<ParentTools<'a>>,
}

/// The tools of a pi.
#[derive(Debug, Clone, Copy)]
pub struct ParentTools<'a> {
    /// The tools that are switched on.
    pub active: &'a [String],
    /// All tools that it knows; empty if it did not list them.
    pub all: &'a [String],
}

/// The tools that a definition gives to a child, with warnings for its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenTools {
    /// The tools that the child has.
    pub policy: ToolPolicy,
    /// The warnings about odd entries of the lists.
    pub warnings: Vec<String>,
}

/// Returns the tools that a definition gives to a child; the report tool is among them if it is
/// needed.
pub fn tools_of(
    definition: &Definition,
    surroundings: &ToolFacts<'_>,
) -> Result<GivenTools, Invalid> {
    let mut given = chosen_tools(definition, surroundings)?;
    if definition.finalize {
        given.policy = given.policy.with_report();
    }
    Ok(given)
}

fn chosen_tools(
    definition: &Definition,
    surroundings: &ToolFacts<'_>,
) -> Result<GivenTools, Invalid> {
    let allowed = definition.tools.as_ref().filter(|list| !list.is_empty());
    let denied = definition.exclude_tools.as_ref();
    let denied = denied.filter(|list| !list.is_empty());
    let known = KnownTools::of(definition, surroundings);
    match (allowed, denied) {
        _ if definition.no_tools => Ok(GivenTools::new(ToolPolicy::Nothing)),
        (Some(names), _) => Ok(GivenTools {
            warnings: known.check_allowed(definition, names)?,
            policy: ToolPolicy::Only(names.clone()),
        }),
        (None, Some(names)) => Ok(GivenTools {
            warnings: known.check_denied(definition, names),
            policy: without_denied(definition, names, surroundings),
        }),
        (None, None) => Ok(GivenTools::new(ToolPolicy::Inherit)),
    }
}

/// Leaves a child all tools but the denied ones. A prompt inherits the tools that its caller has
/// switched on; any other definition has every tool that its child can have. Nobody knows the tools
/// of extensions that a definition loads by itself, so in that case the child takes the denied ones
/// away.
fn without_denied(
    definition: &Definition,
    denied: &[String],
    surroundings: &ToolFacts<'_>,
) -> ToolPolicy {
    let mut offered: Vec<String> = match (definition.dialect, surroundings.parent) {
        (Dialect::Prompt, Some(parent)) => parent.active.to_vec(),
        (Dialect::Prompt, None) => return ToolPolicy::all_except(denied.to_vec()),
        (_, _) if !definition.extensions.is_empty() => {
            return ToolPolicy::all_except(denied.to_vec());
        }
        (_, _) => inherited(definition, surroundings),
    };
    let servers = definition.mcp_servers.iter().map(all_of);
    offered.extend(servers);
    offered.retain(|name| !is_ours(name) && !denied.contains(name));
    if offered.is_empty() {
        ToolPolicy::Nothing
    } else {
        ToolPolicy::Only(offered)
    }
}

/// Returns all tools that a child can have: those that are built in, and those that its parent's
/// extensions have switched on, because a child of pi loads these extensions too.
fn inherited(definition: &Definition, surroundings: &ToolFacts<'_>) -> Vec<String> {
    let mut names = BUILT_IN_TOOLS.map(str::to_owned).to_vec();
    if surroundings.runner.loads_extensions()
        && !definition.no_extensions
        && let Some(parent) = surroundings.parent
    {
        let further = parent.active.iter().filter(|name| !is_built_in(name));
        names.extend(further.cloned());
    }
    names
}

fn is_built_in(name: &str) -> bool {
    BUILT_IN_TOOLS.contains(&name)
}

/// The tools that a child may be given by name.
struct KnownTools<'a> {
    names: Vec<&'a str>,
    /// The MCP servers of the definition, whose tools nobody knows before they start.
    servers: Vec<&'a str>,
    /// True if no other tools can exist.
    are_all: bool,
}

impl<'a> KnownTools<'a> {
    fn of(definition: &'a Definition, surroundings: &ToolFacts<'a>) -> Self {
        let mut names = BUILT_IN_TOOLS.to_vec();
        names.extend(definition.finalize.then_some(FINALIZE_TOOL));
        let loads_its_own = !definition.extensions.is_empty();
        let are_all = match (surroundings.runner.loads_extensions(), surroundings.parent) {
            (false, _) => true,
            (true, _) if definition.no_extensions => !loads_its_own,
            (true, Some(parent)) => {
                let all = parent.all.iter().map(String::as_str);
                names.extend(all.filter(|name| !is_built_in(name) && !is_ours(name)));
                !parent.all.is_empty() && !loads_its_own
            }
            (true, None) => false,
        };
        let servers = definition.mcp_servers.iter();
        Self {
            names,
            servers: servers.map(|server| server.name.as_str()).collect(),
            are_all,
        }
    }

    /// Refuses a list without any known tool, if all tools are known. Returns warnings about the
    /// unknown tools of any other list.
    fn check_allowed(
        &self,
        definition: &Definition,
        allowed: &[String],
    ) -> Result<Vec<String>, Invalid> {
        let unknown: Vec<&String> = self.unknown(allowed).collect();
        if self.are_all && unknown.len() == allowed.len() {
            return Err(Invalid::UnknownTools {
                kind: definition.dialect.title(),
                name: definition.name.clone(),
                unknown: allowed.join(", "),
                available: self.names.join(", "),
            });
        }
        let title = title(definition, Field::Tools);
        let odd = unknown.into_iter().filter_map(|name| self.doubt(name));
        Ok(odd.map(|doubt| format!("{title} allows {doubt}")).collect())
    }

    fn check_denied(&self, definition: &Definition, denied: &[String]) -> Vec<String> {
        let title = title(definition, Field::ExcludeTools);
        let unknown = self.unknown(denied).filter(|name| !is_ours(name));
        unknown
            .filter_map(|name| self.doubt(name))
            .map(|doubt| format!("{title} excludes {doubt}"))
            .collect()
    }

    fn unknown<'b>(&self, names: &'b [String]) -> impl Iterator<Item = &'b String> {
        names.iter().filter(|name| {
            let is_named = self.names.contains(&name.as_str());
            let of_server = ServerTool::read(name);
            let has_server = of_server.is_some_and(|named| self.servers.contains(&named.server));
            !is_named && !has_server
        })
    }

    /// Returns a warning about a name that is no known tool. A name that resembles no known tool
    /// may be that of a tool we cannot know, unless all tools are known.
    fn doubt(&self, name: &str) -> Option<String> {
        match nearest(name, self.names.iter().copied()) {
            Some(meant) => Some(format!(
                "the tool \"{name}\", which is unknown; did you mean \"{meant}\"?"
            )),
            None if self.are_all => Some(format!("the tool \"{name}\", which is unknown")),
            None => None,
        }
    }
}

impl GivenTools {
    fn new(policy: ToolPolicy) -> Self {
        Self {
            policy,
            warnings: Vec::new(),
        }
    }
}

/// Returns the name that means all tools of a server.
fn all_of(server: &McpServer) -> String {
    let all = ServerTool {
        server: &server.name,
        tool: None,
    };
    all.name()
}

fn is_ours(name: &str) -> bool {
    OUR_TOOLS.contains(&name)
}

/// Names a definition, with the place of one of its fields.
fn title(definition: &Definition, field: Field) -> String {
    let (kind, name) = (definition.dialect.title(), &definition.name);
    format!("{kind} \"{name}\" ({})", definition.place_of(field))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_tool_that_we_register_in_pi_is_ours() {
        let manifest = include_str!("../../../../extension/manifest.json");
        let manifest: Value = serde_json::from_str(manifest).unwrap();
        let tools = manifest["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"subagent"), "{names:?}");
        let strange: Vec<_> = names.iter().filter(|name| !is_ours(name)).collect();
        assert_eq!(strange, Vec::<&&str>::new());
    }
}
