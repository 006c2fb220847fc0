//! The definitions that a tool takes, as its description lists them for a model.

use pi_subagents_configuration::{Asker, Catalogue, DEFAULT_AGENT, choices};

use pi_subagents_vocabulary::Definition;

use super::Tool;
use crate::families::{delegation, subagent};

/// Names the definitions that a tool takes, with their purposes, within bounds; `None` if there are
/// no definitions.
pub fn choices_of(tool: &Tool, catalogue: &Catalogue) -> Option<String> {
    match tool.name {
        delegation::DELEGATE => {
            let told = choices(&catalogue.effective(Asker::Delegation))?;
            Some(format!("Profiles: {told}."))
        }
        subagent::SUBAGENT => {
            let told = choices(&with_plain(catalogue, Asker::Subagent))?;
            Some(format!("Presets: {told}."))
        }
        _ => None,
    }
}

/// Names the definitions that the one tool which starts sub-agents takes.
pub fn agents_of(tool: &Tool, catalogue: &Catalogue) -> Option<String> {
    if tool.name != delegation::DELEGATE {
        return None;
    }
    let told = choices(&with_plain(catalogue, Asker::Delegation))?;
    Some(format!("Agents: {told}."))
}

/// Returns the definitions with the one that needs no file: a model can use it before anybody has
/// written one.
fn with_plain(catalogue: &Catalogue, asker: Asker) -> Vec<&Definition> {
    let mut offered = catalogue.effective(asker);
    let plain = catalogue.find(DEFAULT_AGENT, asker);
    if let Some(plain) = plain.ok().filter(|plain| plain.definition.is_built_in()) {
        offered.insert(0, plain.definition);
    }
    offered
}
