//! The terms of a task, in one place: what the task says counts before its call, and that before the
//! run that it continues. The definition and the settings decide the rest.

use pi_subagents_vocabulary::RunTerms;
use serde_json::Value;

use super::asked::Asked;
use crate::caller::Overrides;
use crate::task_terms::SchemaWish;

/// Returns the terms that were set for a task.
pub(super) fn terms_of(asked: &Asked, overrides: &Overrides) -> RunTerms {
    let own_gates = (!asked.terms.gates.is_empty()).then(|| asked.terms.gates.clone());
    let own_schema = match &asked.terms.output_schema {
        SchemaWish::Unsaid => None,
        SchemaWish::Nothing => Some(Value::Bool(false)),
        SchemaWish::Schema(schema) => Some(schema.clone()),
    };
    let set = RunTerms {
        runner: overrides.runner,
        model: asked.model.clone().or_else(|| overrides.model.clone()),
        tools: overrides.tools.clone(),
        timeout: asked.timeout.or(overrides.timeout),
        allowance: overrides.allowance,
        isolation: asked.terms.isolation.or(overrides.isolation),
        gates: own_gates.or_else(|| overrides.gates.clone()),
        output_schema: own_schema.or_else(|| overrides.output_schema.clone()),
    };
    match &asked.inherited {
        Some(inherited) => set.or(inherited.terms_for(asked.definition.as_deref())),
        None => set,
    }
}
