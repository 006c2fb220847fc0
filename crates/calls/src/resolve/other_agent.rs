//! Checks whether an agent of others can keep the limits of a task. What it cannot keep refuses the
//! task; what it keeps late is told.

use pi_subagents_bridge::{facts_of, means_of, obstacle_of};
use pi_subagents_vocabulary::{OtherAgent, Refusal, ServerReach, ToolPolicy, Work};

use crate::destination::Destination;

/// Returns sentences for the caller, or the reason why the agent does not get the task.
pub(super) fn check_other_agent(
    agent: OtherAgent,
    work: &Work,
    destination: &Destination,
) -> Result<Vec<String>, Refusal> {
    let (title, facts) = (agent.title(), facts_of(agent));
    let refuse = |message: String| Err(Refusal { message });
    match destination {
        Destination::Here => {}
        Destination::Fleet(_) => {
            return refuse(format!(
                "{title} does its work on this machine only. Leave out --on, or use --runner embedded."
            ));
        }
    }
    means_of(agent, &work.tools).map_err(|message| Refusal { message })?;
    if !work.sandbox.is_off() {
        return refuse(format!(
            "The sandbox ({}) cannot hold {title}: it needs its own login and its own servers. Use --runner embedded, or --sandbox off if no setting asks for more.",
            work.sandbox
        ));
    }
    if !work.commands.is_empty() {
        return refuse(format!(
            "{title} cannot keep the list of commands. Leave it out, or use --runner embedded."
        ));
    }
    if !work.fallback_models.is_empty() {
        return refuse(format!(
            "{title} asks only its own model. Leave out --fallback-models, or use --runner embedded."
        ));
    }
    check_report(agent, work)?;
    check_servers(agent, work)?;
    let allowance = &work.limits.allowance;
    if allowance.cost.is_some() && allowance.tokens.is_none() && !facts.tells_cost {
        return refuse(format!(
            "{title} does not say what a run costs, so a limit of cost cannot hold. Set --max-tokens instead, or use --runner embedded."
        ));
    }
    let is_limited = allowance.tokens.is_some() || (allowance.cost.is_some() && !facts.keeps_cost);
    let late = format!(
        "{title} says what a run has used at the end of a turn, so limits of tokens and cost hold late"
    );
    Ok(is_limited.then_some(late).into_iter().collect())
}

/// Refuses MCP servers that the agent cannot be given as their definition wants them.
fn check_servers(agent: OtherAgent, work: &Work) -> Result<(), Refusal> {
    let (title, facts) = (agent.title(), facts_of(agent));
    for server in &work.mcp_servers.0 {
        let is_program = matches!(server.reach, ServerReach::Program { .. });
        let why = match obstacle_of(server) {
            Some(why) => why,
            None if is_program && !facts.starts_servers => {
                "it does not start MCP servers over stdio"
            }
            // Its flag for tools would have to name those of the server.
            None if agent == OtherAgent::Copilot && work.tools != ToolPolicy::Inherit => {
                "it cannot keep a list of tools and have servers"
            }
            None => continue,
        };
        return Err(Refusal {
            message: format!(
                "{title} cannot be given the MCP server \"{}\": {why}. Use \"runner: embedded\".",
                server.name
            ),
        });
    }
    Ok(())
}

/// Refuses a report that the agent has no way to give.
fn check_report(agent: OtherAgent, work: &Work) -> Result<(), Refusal> {
    let title = agent.title();
    let why = match agent {
        _ if !work.must_report() => return Ok(()),
        _ if !facts_of(agent).starts_servers => "it does not start MCP servers over stdio",
        OtherAgent::Codex if work.tools != ToolPolicy::Inherit => {
            "it takes the report only where it may do everything"
        }
        _ => return Ok(()),
    };
    Err(Refusal {
        message: format!(
            "{title} cannot report with subagent_finalize: {why}. Leave out the output schema and finalize, or use --runner embedded."
        ),
    })
}
