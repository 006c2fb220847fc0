//! The definitions that a tool takes, as its description lists them for a model.

use pi_subagents_configuration::{Asker, Catalogue, DEFAULT_AGENT, choices};

use super::Tool;
use crate::families::{delegation, subagent};

/// Names the definitions that a tool takes, with their purposes, within bounds; `None` if there are
/// no definitions.
pub fn choices_of(tool: &Tool, catalogue: &Catalogue) -> Option<String> {
    let (asker, word) = match tool.name {
        delegation::DELEGATE => (Asker::Delegation, "Profiles"),
        subagent::SUBAGENT => (Asker::Subagent, "Presets"),
        _ => return None,
    };
    let mut offered = catalogue.effective(asker);
    let plain = catalogue.find(DEFAULT_AGENT, asker);
    if let Some(plain) = plain.ok().filter(|plain| plain.definition.is_built_in()) {
        // A model can use this definition before anybody has written one.
        offered.insert(0, plain.definition);
    }
    let told = choices(&offered)?;
    Some(format!("{word}: {told}."))
}
