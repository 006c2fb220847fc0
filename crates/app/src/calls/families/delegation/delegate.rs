//! `delegate_to_subagents`, from the call to its answer.

use serde_json::{Map, Value};

use super::answer::summary;
use super::lower::{FAMILY, lower};
use super::schema::DelegateCall;
use crate::calls::answer::Outcomes;
use crate::calls::call::{Call, Lowered};
use crate::calls::definition_use::check_definition;
use crate::calls::lowering::{Family, Lowering};
use crate::calls::next_steps::Door;
use crate::configuration::Configuration;
use crate::error::CommandError;

/// Fails if there is no definition of this name.
pub(crate) fn check_profile(
    name: &str,
    configuration: &Configuration,
    door: Door,
) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration, door)
}

impl Call for DelegateCall {
    const FAMILY: Family = FAMILY;

    type Notes = ();

    fn lower(&self, lowering: &Lowering<'_>) -> Result<Lowered<()>, CommandError> {
        lower(lowering, self)
    }

    fn task_count(&self) -> usize {
        self.tasks.len()
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.files.len())
    }

    fn word(&self, outcomes: &Outcomes, (): &()) -> (String, Map<String, Value>) {
        (summary(outcomes), Map::new())
    }
}
