//! The definitions that a tool takes, as its description lists them for a model.

use pi_subagents_definitions::{Asker, Catalogue, choices};

use super::Tool;
use crate::calls::families::{delegation, subagent};

/// Names the definitions that a tool takes, with what they are good for, within bounds; nothing
/// where there are none.
pub(crate) fn choices_of(tool: &Tool, catalogue: &Catalogue) -> Option<String> {
    let (asker, word) = match tool.name {
        delegation::DELEGATE => (Asker::Delegation, "Profiles"),
        subagent::SUBAGENT => (Asker::Subagent, "Presets"),
        _ => return None,
    };
    let told = choices(&catalogue.effective(asker))?;
    Some(format!("{word}: {told}."))
}
