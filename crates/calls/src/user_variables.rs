//! The environment of a command that a user has named: an end command, or the gate of a review.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use pi_subagents_agent::secret_variables;
use pi_subagents_engine::MARKS;
use pi_subagents_ground::places::Places;

/// Returns the variables of the user's shells, without the keys of models and without the marks of
/// runs.
pub fn user_variables(places: &Places) -> BTreeMap<OsString, OsString> {
    let secrets = secret_variables(&places.agent_dir);
    let is_hidden = |name: &OsStr| {
        MARKS.iter().any(|mark| name == *mark)
            || secrets.iter().any(|secret| name == OsStr::new(secret))
    };
    let variables = places.variables.iter().filter(|(name, _)| !is_hidden(name));
    variables
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
