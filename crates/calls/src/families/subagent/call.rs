//! `subagent`, from the call to its answer.

use super::answer::{details, notices, text};
use super::open::{FAMILY, NamedNewSession, open_runs};
use super::schema::SubagentCall;
use crate::answer::Outcomes;
use crate::call::{Call, Opened, Worded};
use crate::open_run::Opening;
use crate::resolve::{Family, check_definition};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_vocabulary::Door;

/// Fails if there is no definition of this name.
pub fn check_agent(
    name: &str,
    configuration: &Configuration,
    door: Door,
) -> Result<(), CommandError> {
    check_definition(name, FAMILY.asker, configuration, door)
}

impl Call for SubagentCall {
    const FAMILY: Family = FAMILY;

    type Notes = NamedNewSession;

    fn open_runs(&self, opening: &Opening<'_>) -> Result<Opened<NamedNewSession>, CommandError> {
        open_runs(opening, self)
    }

    fn task_count(&self) -> usize {
        self.tasks().len()
    }

    fn file_counts(&self) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn word(&self, outcomes: &Outcomes, notes: &NamedNewSession) -> Worded {
        Worded {
            text: text(self, outcomes, notes),
            has_answers: true,
            details: details(self, outcomes, notes),
            notices: notices(outcomes, notes),
        }
    }
}
