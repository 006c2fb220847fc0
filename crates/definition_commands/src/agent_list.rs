//! The definitions that count, as programs read them.

use pi_subagents_configuration::{Asker, summary};
use pi_subagents_vocabulary::Definition;

use super::fields;
use super::results::{AgentsResult, ListedAgent};
use super::visible_agents::VisibleAgents;
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::Door;

/// Returns every definition that counts at a place, and the ignored ones.
pub fn seen_definitions(places: Places) -> AgentsResult {
    listed(&VisibleAgents::from(places, false, Door::CommandLine))
}

/// Returns every definition that counts, and the ignored ones.
pub(super) fn listed(seen: &VisibleAgents) -> AgentsResult {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    AgentsResult {
        agents: definitions.iter().copied().map(row).collect(),
        seen: seen.beside(),
    }
}

fn row(definition: &Definition) -> ListedAgent {
    ListedAgent {
        agent: fields::printed(definition),
        summary: summary(definition),
    }
}
