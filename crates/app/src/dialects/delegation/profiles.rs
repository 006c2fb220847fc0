//! `list_subagent_profiles`: which definitions there are.

use pi_subagents_definitions::{Asker, Catalogue, listing, summary};
use serde_json::{Map, Value, json};

use super::tools::NoArguments;
use crate::caller::Caller;
use crate::dialects::arguments;
use crate::error::CommandError;
use crate::toolbox::{ToolAnswer, Toolbox};

/// Lists all definitions the caller can use, and says what was ignored.
pub(crate) fn profiles(
    toolbox: &Toolbox,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    arguments::read::<NoArguments>(arguments)?;
    let catalogue = toolbox.configuration(caller).catalogue;
    Ok(listed(&catalogue))
}

fn listed(catalogue: &Catalogue) -> ToolAnswer {
    let definitions = catalogue.effective(Asker::Delegation);
    let mut lines = vec![listing(&definitions)];
    lines.extend(
        catalogue
            .notices()
            .iter()
            .map(|notice| format!("! {notice}")),
    );
    let mut details = json!({"count": definitions.len()});
    if !definitions.is_empty() {
        let profiles: Map<String, Value> = definitions
            .iter()
            .map(|definition| (definition.name.clone(), summary(definition).into()))
            .collect();
        details["profiles"] = profiles.into();
    }
    ToolAnswer::new(lines.join("\n"), details)
}
