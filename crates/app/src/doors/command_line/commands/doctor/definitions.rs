//! Checks the settings, the definitions, and whether the project is trusted.

use std::path::Path;

use pi_subagents_definitions::{Asker, TrustDecision, check_paths, name, validate};
use pi_subagents_delegation::{Definition, text};
use pi_subagents_files::read_own;
use serde_json::Value;

use super::check::Check;
use crate::doors::command_line::commands::trust;
use crate::profiles::seen::Seen;

/// How many definitions are named.
const MOST_NAMED: usize = 10;

pub(super) fn settings(seen: &Seen) -> Check {
    let file = seen.places.agent_dir.join("settings.json");
    let keys = keys(&file);
    let text = if keys.is_empty() {
        "the defaults".to_owned()
    } else {
        format!("{} in {}", keys.join(", "), seen.short(&file))
    };
    let warnings = seen.configuration().warnings.iter();
    Check::new("settings", text).warnings(warnings.map(|warning| format!("{warning}.")))
}

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 4 << 20;

/// Returns our settings that a file contains.
fn keys(file: &Path) -> Vec<String> {
    let content = read_own(file, LARGEST_FILE).unwrap_or_default();
    let whole: Value = serde_json::from_slice(&content).unwrap_or_default();
    let ours = whole.get("subagents").and_then(Value::as_object);
    ours.map(|ours| ours.keys().cloned().collect())
        .unwrap_or_default()
}

pub(super) fn definitions(seen: &Seen) -> Check {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    let check = match definitions.as_slice() {
        [] => Check::new(
            "definitions",
            "none; create one with pi-subagents profile create NAME",
        ),
        some => Check::new("definitions", listed(some)),
    };
    let invalid = definitions.iter().filter_map(|one| fault(one, seen));
    let files = seen.catalogue().warnings().iter();
    check.warnings(files.map(|warning| format!("{warning}.")).chain(invalid))
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

/// Returns why tasks that name a definition would be refused.
fn fault(definition: &Definition, seen: &Seen) -> Option<String> {
    let places = &seen.places;
    let fault = validate(definition)
        .and_then(|()| check_paths(definition, &places.cwd, &places.home))
        .err()?;
    Some(format!("{}: {fault}", seen.short(&definition.file)))
}

/// Checks whether somebody has decided to trust the project, if it contains definitions.
pub(super) fn project(seen: &Seen) -> Check {
    let project = seen.places.project.display();
    let notices = seen.notices();
    match seen.trust().of(&seen.places.project) {
        TrustDecision::Trusted(_) | TrustDecision::Refused(_) => {
            Check::new("project", trust::sentence(seen)).warnings(notices)
        }
        TrustDecision::Undecided if notices.is_empty() => Check::new(
            "project",
            format!("{project} contains no definitions, so there is nothing to trust"),
        ),
        TrustDecision::Undecided => {
            let many = text::count(seen.catalogue().ignored().count(), "definition");
            Check::new(
                "project",
                format!(
                    "{project} contains {many}, and you have not decided yet whether to trust it"
                ),
            )
            .warnings(notices)
        }
    }
}
