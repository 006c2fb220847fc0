//! The places for the embedded agent.

use std::ffi::OsStr;

use pi_subagents_agent::Surroundings;

use super::Places;

impl From<&Places> for Surroundings {
    fn from(places: &Places) -> Self {
        let variables = places.variables.iter();
        Self {
            cwd: places.cwd.clone(),
            never_projects: places.never_projects.clone(),
            home: places.home.clone(),
            agent_dir: places.agent_dir.clone(),
            variables: variables
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
        }
    }
}

fn text(word: &OsStr) -> String {
    word.to_string_lossy().into_owned()
}
