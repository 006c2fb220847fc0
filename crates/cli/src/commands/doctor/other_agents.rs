//! Finds the agents of others that can do the work of runs.

use pi_subagents_bridge::facts_of;
use pi_subagents_calls::runner::{ask_version, find_other_agent};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_pi_files::{is_program, on_path};
use pi_subagents_vocabulary::OtherAgent;
use std::path::Path;

use super::check::Check;

/// Programs whose bridge to the protocol is a package of its own.
const ALONE: [(&str, OtherAgent); 2] =
    [("claude", OtherAgent::Claude), ("codex", OtherAgent::Codex)];

/// Checks them; `None` if there are none.
pub(super) fn other_agents(seen: &VisibleAgents) -> Option<Check> {
    let named = &seen.configuration().settings.runners;
    let mut programs = Vec::new();
    let mut broken = Vec::new();
    for agent in OtherAgent::ALL {
        let Ok(command) = find_other_agent(agent, named, &seen.places) else {
            continue;
        };
        let program = command.first().map_or("", String::as_str);
        if is_there(program, seen) {
            programs.push((agent, program.to_owned()));
        } else {
            broken.push(format!(
                "subagents.runners.{}.command names {program}, which is not a program",
                agent.as_str()
            ));
        }
    }
    let found = with_versions(&programs, seen);
    let search_path = seen.places.variable("PATH").unwrap_or_default();
    let alone = ALONE.into_iter().filter(|(program, agent)| {
        let can_work = find_other_agent(*agent, named, &seen.places).is_ok();
        !can_work && on_path(program, search_path).is_some()
    });
    let hints: Vec<String> = alone
        .map(|(_, agent)| {
            let install = facts_of(agent).install;
            format!("To let {} do the work of runs: {install}", agent.title())
        })
        .collect();
    if found.is_empty() && broken.is_empty() && hints.is_empty() {
        return None;
    }
    let text = if found.is_empty() {
        "none can do the work of runs yet".to_owned()
    } else {
        found.join(", ")
    };
    let check = Check::new("other agents", text);
    Some(hints.iter().fold(check, Check::hint).warnings(broken))
}

/// Names the agents with the versions of their programs, which are asked side by side: some take
/// seconds to start.
fn with_versions(programs: &[(OtherAgent, String)], seen: &VisibleAgents) -> Vec<String> {
    let search_path = seen.places.variable("PATH").unwrap_or_default();
    let path_of = |program: &str| {
        on_path(program, search_path).unwrap_or_else(|| seen.places.cwd.join(program))
    };
    std::thread::scope(|scope| {
        let asked: Vec<_> = programs
            .iter()
            .map(|(_, program)| {
                let path = path_of(program);
                scope.spawn(move || ask_version(&path).ok())
            })
            .collect();
        let versions = asked.into_iter().map(|asked| asked.join().ok().flatten());
        let named = programs
            .iter()
            .zip(versions)
            .map(|((agent, program), version)| {
                let version = version.unwrap_or_else(|| "version not told".to_owned());
                let program = seen.short(Path::new(program));
                let (title, runner) = (agent.title(), agent.as_str());
                format!("{title} {version} ({program}; --runner {runner})")
            });
        named.collect()
    })
}

fn is_there(program: &str, seen: &VisibleAgents) -> bool {
    let search_path = seen.places.variable("PATH").unwrap_or_default();
    is_program(&seen.places.cwd.join(program)) || on_path(program, search_path).is_some()
}
