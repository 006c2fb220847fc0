//! `delegate_to_subagents`, from the call to its answer.

use serde_json::Map;

use super::answer::summary;
use super::open::{FAMILY, open_runs};
use super::task::DelegateCall;
use crate::answer::Outcomes;
use crate::call::{Call, Opened, Worded};
use crate::open_run::Opening;
use crate::resolve::{Family, check_definition};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::Door;

/// Fails if there is no definition of this name.
pub fn check_profile(
    name: &str,
    configuration: &Configuration,
    door: Door,
) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration, door)
}

impl Call for DelegateCall {
    const FAMILY: Family = FAMILY;

    type Notes = ();

    fn open_runs(&self, opening: &Opening<'_>) -> Result<Opened<()>, CommandError> {
        open_runs(opening, self)
    }

    fn task_count(&self) -> usize {
        self.tasks.len()
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.files.len())
    }

    fn word(&self, outcomes: &Outcomes, (): &()) -> Worded {
        Worded {
            text: summary(outcomes),
            has_answers: false,
            details: Map::new(),
            notices: Vec::new(),
        }
    }
}
