//! Checks the settings, the definitions, and whether the project is trusted.

use pi_subagents_configuration::{Asker, TrustDecision, Verdict, check_paths, name, validate};
use pi_subagents_vocabulary::{Definition, text};

use super::check::Check;
use crate::commands::trust;
use pi_subagents_definition_commands::doubts::{ModelDoubts, tool_doubts};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;

/// The number of definitions that are named.
const MOST_NAMED: usize = 10;

pub(super) fn settings(seen: &VisibleAgents) -> Check {
    let configuration = seen.configuration();
    let used: Vec<String> = configuration
        .used_settings
        .iter()
        .filter(|used| !used.keys.is_empty())
        .map(|used| format!("{} in {}", used.keys.join(", "), seen.short(&used.file)))
        .collect();
    let check = match (configuration.broken.as_slice(), used.as_slice()) {
        ([], []) => Check::new("settings", "the defaults"),
        ([], used) => Check::new("settings", used.join("; ")),
        ([first, more @ ..], _) => {
            let check = Check::new("settings", first).problem();
            let check = more.iter().fold(check, Check::hint);
            check.hint("Nothing can start until you fix that file.")
        }
    };
    let warnings = configuration.warnings.iter();
    check.warnings(warnings.cloned())
}

pub(super) fn definitions(seen: &VisibleAgents) -> Check {
    let mut definitions = seen.catalogue().effective(Asker::Delegation);
    definitions.retain(|one| !one.dialect.is_foreign());
    let check = match definitions.as_slice() {
        [] => Check::new(
            "agents",
            "none; pi-subagents agents add lists ready-made ones",
        ),
        some => Check::new("agents", listed(some)),
    };
    let models = ModelDoubts::of(seen);
    let invalid = definitions
        .iter()
        .flat_map(|one| faults(one, &models, seen));
    let files = seen.catalogue().warnings().iter();
    let files =
        files.filter(|warning| warning.foreign.is_none() && warning.verdict != Verdict::NotOffered);
    check.warnings(files.map(ToString::to_string).chain(invalid))
}

fn listed(definitions: &[&Definition]) -> String {
    let mut names: Vec<String> = definitions
        .iter()
        .take(MOST_NAMED)
        .map(|one| name(one))
        .collect();
    if let Some(more @ 1..) = definitions.len().checked_sub(MOST_NAMED) {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// Explains why tasks that name a definition would be refused, and which of its values are probably
/// misspelt.
fn faults(definition: &Definition, models: &ModelDoubts, seen: &VisibleAgents) -> Vec<String> {
    let places = &seen.places;
    let fault = validate(definition)
        .and_then(|()| check_paths(definition, &places.cwd, &places.home))
        .err();
    if let Some(fault) = fault {
        return vec![format!("{}: {fault}", seen.short(&definition.file))];
    }
    let mut doubts = tool_doubts(definition, seen);
    doubts.extend(models.about(definition));
    doubts
}

/// Checks whether somebody has decided to trust the project, if it contains definitions.
pub(super) fn project(seen: &VisibleAgents) -> Check {
    let project = seen.places.project.display();
    let notices = seen.notices();
    match seen.trust().of(&seen.places.project) {
        TrustDecision::Trusted(_) | TrustDecision::Refused(_) => {
            Check::new("project", trust::sentence(seen)).warnings(notices)
        }
        TrustDecision::Undecided if notices.is_empty() => Check::new(
            "project",
            format!("{project} contains no agents, so there is nothing to trust"),
        ),
        TrustDecision::Undecided => {
            let many = text::count(seen.catalogue().ignored().count(), "agent");
            Check::new(
                "project",
                format!("{project} contains {many}, and is not trusted yet"),
            )
            .warnings(notices)
        }
    }
}
