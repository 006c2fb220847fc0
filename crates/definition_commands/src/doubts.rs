//! Finds names in a definition that are probably misspelt: names of tools, of a provider, of a model.

use pi_subagents_agent::{AskedModel, ModelCatalogue, Surroundings};
use pi_subagents_configuration::{self as definitions, RunnerChoice, tools_of};
use pi_subagents_vocabulary::{Definition, Runner};

use super::visible_agents::VisibleAgents;
use pi_subagents_calls::model_place;
use pi_subagents_calls::runner::is_pi_named;

/// Returns warnings about the tools of a definition, for the kind of child that would do its tasks.
pub fn tool_doubts(definition: &Definition, seen: &VisibleAgents) -> Vec<String> {
    let surroundings = definitions::ToolFacts {
        runner: usual_runner(definition, seen),
        parent: None,
    };
    match tools_of(definition, &surroundings) {
        Ok(given) => given.warnings,
        Err(invalid) => vec![invalid.to_string()],
    }
}

/// Makes warnings about the models of definitions; their files are read once for all of them.
pub struct ModelDoubts(ModelCatalogue);

impl ModelDoubts {
    pub fn of(seen: &VisibleAgents) -> Self {
        Self(ModelCatalogue::read(Surroundings::from(&seen.places)))
    }

    pub fn about(&self, definition: &Definition) -> Option<String> {
        let doubt = self.0.misspelt(AskedModel {
            provider: definition.provider.as_deref(),
            model: definition.model.as_deref(),
        })?;
        let (kind, name) = (definition.dialect.title(), &definition.name);
        let place = model_place(definition);
        Some(format!("{kind} \"{name}\" ({place}): {doubt}"))
    }
}

/// Returns the kind of child that does the tasks of a definition, without asking a pi whether it
/// starts.
fn usual_runner(definition: &Definition, seen: &VisibleAgents) -> Runner {
    let choice = definition.runner;
    match choice.unwrap_or(seen.configuration().settings.runner) {
        RunnerChoice::Auto if !is_pi_named(&seen.places) => Runner::Embedded,
        choice => choice.usual(),
    }
}
