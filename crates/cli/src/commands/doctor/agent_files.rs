//! Checks the agent files of other tools: how many there are, and what keeps them from being used.

use std::collections::BTreeMap;

use pi_subagents_agent::{ModelCatalogue, Surroundings};
use pi_subagents_calls::ForeignModel;
use pi_subagents_configuration::{Asker, Verdict, Warning};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_vocabulary::{Definition, Dialect, Translation, text};

use super::check::Check;

/// The number of files and of models that are named.
const MOST_NAMED: usize = 10;

/// Checks the files; `None` if there are none.
pub(super) fn check(seen: &VisibleAgents) -> Option<Check> {
    let mut agents = seen.catalogue().effective(Asker::Delegation);
    agents.retain(|one| one.dialect.is_foreign());
    let warnings = seen.catalogue().warnings().iter();
    let warnings: Vec<&Warning> = warnings
        .filter(|warning| warning.foreign.is_some())
        .collect();
    let with = |verdict| {
        let warnings = warnings.iter().copied();
        warnings.filter(move |warning| warning.verdict == verdict)
    };
    let refused: Vec<&Warning> = with(Verdict::Skipped).collect();
    let not_offered = with(Verdict::NotOffered).count();
    if agents.is_empty() && refused.is_empty() && not_offered == 0 {
        return None;
    }
    let losing = agents.iter().filter(|one| loses(one)).count();
    let counts = [
        (refused.len(), "not used"),
        (not_offered, "not offered by their own tool"),
        (losing, "with a loss"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let mut found = by_tool(&agents);
    if !counts.is_empty() {
        found = format!("{found}; {}", counts.join(", "));
    }
    let files = refused.iter().take(MOST_NAMED).map(ToString::to_string);
    let models = missing_models(&agents, seen).into_iter();
    let check = Check::new("other tools", found);
    Some(check.warnings(files.chain(models.take(MOST_NAMED))))
}

fn loses(definition: &Definition) -> bool {
    let mut losses = definition.translation.iter().flat_map(Translation::losses);
    losses.next().is_some()
}

fn by_tool(agents: &[&Definition]) -> String {
    let counts = Dialect::FOREIGN.into_iter().filter_map(|dialect| {
        let count = agents.iter().filter(|one| one.dialect == dialect).count();
        let product = dialect.foreign_files()?.product;
        (count > 0).then(|| format!("{count} of {product}"))
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() {
        return "none of other tools can be used".to_owned();
    }
    counts.join(", ")
}

/// Names the models in these files that nobody can be asked for.
fn missing_models(agents: &[&Definition], seen: &VisibleAgents) -> Vec<String> {
    let models = ModelCatalogue::read(Surroundings::from(&seen.places));
    let aliases = &seen.configuration().settings.model_aliases;
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    for agent in agents {
        if ForeignModel::of(agent, aliases, &models) == ForeignModel::Missing {
            let model = agent.model.as_deref().unwrap_or_default();
            *missing.entry(model).or_default() += 1;
        }
    }
    let missing = missing.into_iter();
    missing
        .map(|(model, count)| {
            let files = text::count(count, "file");
            format!(
                "no model for \"{model}\" ({files}); set the key of a provider that has it, or add \"modelAliases\": {{\"{model}\": \"inherit\"}} to \"subagents\" of settings.json"
            )
        })
        .collect()
}
