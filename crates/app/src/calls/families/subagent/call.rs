//! `subagent`, from the call to its answer.

use serde_json::{Map, Value};

use super::answer::{details, text};
use super::lower::{FAMILY, NamedNewSession, lower};
use super::schema::SubagentCall;
use crate::calls::answer::Outcomes;
use crate::calls::call::{Call, Lowered};
use crate::calls::definition_use::check_definition;
use crate::calls::lowering::{Family, Lowering};
use crate::calls::next_steps::Door;
use crate::configuration::Configuration;
use crate::error::CommandError;

/// Fails if there is no definition of this name.
pub(crate) fn check_agent(
    name: &str,
    configuration: &Configuration,
    door: Door,
) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration, door)
}

impl Call for SubagentCall {
    const FAMILY: Family = FAMILY;

    type Notes = NamedNewSession;

    fn lower(&self, lowering: &Lowering<'_>) -> Result<Lowered<NamedNewSession>, CommandError> {
        lower(lowering, self)
    }

    fn task_count(&self) -> usize {
        self.tasks().len()
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn word(&self, outcomes: &Outcomes, notes: &NamedNewSession) -> (String, Map<String, Value>) {
        (text(self, outcomes, notes), details(self, outcomes, notes))
    }
}
