//! The means by which an agent keeps a list of tools. A list that cannot be kept exactly is refused.
//!
//! The only exception is narrower: a list without bash, edit and write may become the read-only mode
//! of an agent that enforces this mode.

use pi_subagents_vocabulary::{FINALIZE_TOOL, OtherAgent, READ_TOOLS, ServerTool, ToolPolicy};
use serde_json::{Map, Value};

/// The settings of an agent that keep a list of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolMeans {
    /// Arguments of its program.
    pub arguments: Vec<String>,
    /// The variable in its environment.
    pub variable: Option<Variable>,
    /// The mode of its session.
    pub mode: Option<&'static str>,
    /// The only built-in tools, for an agent that takes such a list with its session.
    pub(crate) built_in: Option<Vec<&'static str>>,
}

/// A variable of an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// Our tools. An agent's own names stand in the same order.
const OUR_TOOLS: [&str; 7] = ["read", "write", "edit", "bash", "grep", "find", "ls"];

/// An agent without a tool for listing uses the one for finding.
const CLAUDE: [&str; 7] = ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "Glob"];
const COPILOT: [&str; 7] = ["view", "create", "edit", "bash", "grep", "glob", "glob"];
const OPENCODE: [&str; 7] = ["read", "edit", "edit", "bash", "grep", "glob", "list"];

/// The tools of Qwen Code that change something.
const QWEN_WRITERS: &str = "run_shell_command,edit,write_file";

/// Returns the means by which an agent keeps a policy, or why it cannot.
pub fn means_of(agent: OtherAgent, policy: &ToolPolicy) -> Result<ToolMeans, String> {
    let Some(names) = allowed(policy) else {
        return Ok(ToolMeans::default());
    };
    let of = |table: &[&'static str; 7]| own_names(&names, table);
    match agent {
        OtherAgent::Claude => Ok(ToolMeans {
            built_in: Some(of(&CLAUDE)),
            ..ToolMeans::default()
        }),
        // Without a list after it the flag would allow everything.
        OtherAgent::Copilot if names.is_empty() => Err(refusal(agent, policy, NO_EMPTY_LIST)),
        OtherAgent::Copilot => Ok(ToolMeans {
            arguments: vec![format!("--available-tools={}", of(&COPILOT).join(","))],
            ..ToolMeans::default()
        }),
        // It has one permission for edit and write.
        OtherAgent::Opencode if names.contains(&"edit") != names.contains(&"write") => {
            Err(refusal(agent, policy, ONE_PERMISSION))
        }
        OtherAgent::Opencode => Ok(ToolMeans {
            variable: Some(Variable {
                name: "OPENCODE_PERMISSION",
                value: permissions(&of(&OPENCODE), &servers_in(policy)),
            }),
            ..ToolMeans::default()
        }),
        OtherAgent::Codex if only_reads(&names) => Ok(in_mode("read-only")),
        OtherAgent::Gemini if only_reads(&names) => Ok(in_mode("plan")),
        OtherAgent::Qwen if only_reads(&names) => Ok(ToolMeans {
            arguments: vec!["--exclude-tools".to_owned(), QWEN_WRITERS.to_owned()],
            ..in_mode("plan")
        }),
        OtherAgent::Codex | OtherAgent::Gemini | OtherAgent::Qwen => {
            Err(refusal(agent, policy, ONLY_READING))
        }
        OtherAgent::Acp => Err(refusal(agent, policy, NO_MEANS)),
    }
}

const NO_EMPTY_LIST: &str = "it has no way to be without tools";
const ONE_PERMISSION: &str = "it allows edit and write only together";
const ONLY_READING: &str =
    "it has a read-only mode and nothing else, which fits lists of read, grep, find and ls";
const NO_MEANS: &str = "nobody knows how it would keep one";

/// Returns the tools that a policy allows, or nothing if it allows all.
fn allowed(policy: &ToolPolicy) -> Option<Vec<&str>> {
    let of_list = |names: &'_ [String]| -> Vec<&'static str> {
        let is_named = |tool: &&str| names.iter().any(|name| name == tool);
        OUR_TOOLS.into_iter().filter(is_named).collect()
    };
    match policy {
        ToolPolicy::Inherit => None,
        ToolPolicy::Nothing => Some(Vec::new()),
        ToolPolicy::Only(names) => Some(of_list(names)),
        ToolPolicy::AllExcept(names) => {
            let denied = of_list(names);
            let is_left = |tool: &&str| !denied.contains(tool);
            Some(OUR_TOOLS.into_iter().filter(is_left).collect())
        }
    }
}

fn only_reads(names: &[&str]) -> bool {
    !names.is_empty() && names.iter().all(|name| READ_TOOLS.contains(name))
}

fn in_mode(mode: &'static str) -> ToolMeans {
    ToolMeans {
        mode: Some(mode),
        ..ToolMeans::default()
    }
}

fn own_names(names: &[&str], table: &[&'static str; 7]) -> Vec<&'static str> {
    let mut own: Vec<&'static str> = Vec::new();
    for (ours, theirs) in OUR_TOOLS.iter().zip(table) {
        if names.contains(ours) && !own.contains(theirs) {
            own.push(theirs);
        }
    }
    own
}

/// Returns the names of opencode for the tools of the servers that a list names.
fn servers_in(policy: &ToolPolicy) -> Vec<String> {
    let ToolPolicy::Only(names) = policy else {
        return Vec::new();
    };
    let tools = names.iter().filter_map(|name| ServerTool::read(name));
    tools.map(|tool| format!("{}_*", tool.server)).collect()
}

/// Writes the permissions of opencode. Its last rule that fits counts.
fn permissions(allowed: &[&str], servers: &[String]) -> String {
    let report = format!("*{FINALIZE_TOOL}");
    let denied = [("*".to_owned(), Value::from("deny"))];
    let allowed = allowed.iter().map(|name| (*name).to_owned());
    let allowed = allowed
        .chain(servers.iter().cloned())
        .chain([report])
        .map(|name| (name, Value::from("allow")));
    Value::Object(denied.into_iter().chain(allowed).collect::<Map<_, _>>()).to_string()
}

fn refusal(agent: OtherAgent, policy: &ToolPolicy, why: &str) -> String {
    let list = match policy {
        ToolPolicy::Inherit => "all tools".to_owned(),
        ToolPolicy::Nothing => "no tools".to_owned(),
        ToolPolicy::Only(names) => format!("only {}", names.join(", ")),
        ToolPolicy::AllExcept(names) => format!("all but {}", names.join(", ")),
    };
    format!(
        "{} cannot keep this list of tools ({list}): {why}. Change the list, or use --runner embedded, which keeps every list.",
        agent.title()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &[&str]) -> ToolPolicy {
        ToolPolicy::Only(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn each_agent_keeps_a_list_by_its_own_means_or_refuses_it() {
        let policies = [
            only(&["read", "grep"]),
            only(&["read", "bash", "subagent_finalize"]),
            ToolPolicy::AllExcept(vec!["bash".to_owned()]),
            ToolPolicy::Nothing,
        ];
        let mut lines = Vec::new();
        for agent in OtherAgent::ALL {
            assert_eq!(
                means_of(agent, &ToolPolicy::Inherit),
                Ok(ToolMeans::default())
            );
            for policy in &policies {
                let line = match means_of(agent, policy) {
                    Err(why) => format!("refused: {why}"),
                    Ok(ToolMeans {
                        arguments,
                        variable,
                        mode,
                        built_in,
                    }) => [
                        built_in.map(|names| format!("tools [{}]", names.join(" "))),
                        mode.map(|mode| format!("mode {mode}")),
                        variable.map(|variable| format!("{}={}", variable.name, variable.value)),
                        (!arguments.is_empty()).then(|| arguments.join(" ")),
                    ]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; "),
                };
                lines.push(format!("{}: {line}", agent.as_str()));
            }
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
