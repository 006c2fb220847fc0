//! The terms of a task, in one place: what the task says counts before its call, and that before the
//! run that it continues. The definition and the settings decide the rest.

use pi_subagents_vocabulary::RunTerms;

use super::task::RequestedTask;
use crate::caller::Overrides;

/// Returns the terms that were set for a task.
pub(super) fn terms_of(task: &RequestedTask, overrides: &Overrides) -> RunTerms {
    let set = task.request.terms.clone().or(overrides.terms.clone());
    match &task.inherited {
        Some(inherited) => set.or(inherited.terms_for(task.request.agent_name())),
        None => set,
    }
}
